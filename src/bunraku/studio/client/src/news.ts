/** Follows runs in progress: one question at a time, which the server answers when something is new.
 *
 * A browser keeps few connections to one server, shared by all its tabs; so a page has one question open, and none
 * while nobody sees it.
 */

import * as api from "./api";
import type { Session } from "./session";

/** [ms] a running take has to itself where there are several */
const TURN = 2500;
/** [ms] between two looks at the growing curves */
const REPORT = 1500;
/** [ms] after a question that was answered with an error */
const TROUBLE = 2000;
/** [ms] between two questions where no run goes on */
const CALM = 4000;

export class NewsReader {
  private reading = false;
  private lastReport = 0;
  private turn = 0;
  /** whether takes are to be asked for: something in them changed that news do not tell */
  private stale = false;

  constructor(
    private readonly session: Session,
    private readonly fine: () => void,
  ) {}

  /** Reads until the server is gone; then the one who started it knows. */
  async read(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    while (this.reading) {
      if (document.hidden) await seen();
      const running = this.session.takes.filter((take) => take.state === "running");
      const all = running.length > 0 ? running : this.session.takes;
      const take = all[this.turn++ % Math.max(all.length, 1)];
      if (take === undefined) break;
      if (running.length === 0) await pause(CALM);
      await this.ask(take.number, running.length > 1 ? TURN : 0);
    }
    this.reading = false;
  }

  /** Stays to be done where it fails. */
  private async openAgain(): Promise<void> {
    await this.session.open();
    this.stale = false;
  }

  private async ask(number: number, patience: number): Promise<void> {
    const take = this.session.takes[number]!;
    const abort = new AbortController();
    const timer = patience > 0 ? window.setTimeout(() => abort.abort(), patience) : 0;
    const leave = (): void => {
      if (document.hidden) abort.abort();
    };
    document.addEventListener("visibilitychange", leave);
    try {
      if (this.stale) await this.openAgain();
      // Only a run is waited for. Its first question is answered at once, so that progress and Cancel are there from the
      // start; so are those about other takes, which ask whether somebody resumed them and whether the server is there.
      const waits = take.state === "running" && this.session.news.has(number);
      const news = await api.news(number, take.ready, waits ? take.state : "unknown", abort.signal);
      this.session.update(number, news);
      this.fine();
      // The server takes scales of colours from the frames there are, again at each power of two.
      this.stale ||= news.state !== take.state || Math.clz32(news.ready) !== Math.clz32(take.ready);
      if (this.stale) await this.openAgain();
      else if (news.ready !== take.ready && performance.now() > this.lastReport + REPORT) {
        this.lastReport = performance.now();
        void this.session.loadReport(number);
      }
    } catch (error) {
      if (api.isAbort(error)) return;
      this.stale ||= error instanceof api.ServerError && error.status === 404; // a run left nothing behind
      this.session.failed(error);
      if (api.isGone(error)) this.reading = false;
      else await pause(TROUBLE);
    } finally {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", leave);
    }
  }
}

const pause = (time: number): Promise<void> => new Promise((done) => window.setTimeout(done, time));

const seen = (): Promise<void> =>
  new Promise((done) => document.addEventListener("visibilitychange", () => done(), { once: true }));
