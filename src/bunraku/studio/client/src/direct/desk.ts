/** The shot that is directed: what the server last said of it, and edits on their way there, one at a time. */

import * as api from "../api";
import type { ArraysBeside, Change, Edited, ShotNews, ShotSheet } from "../messages";
import type { Session } from "../session";

export type Path = readonly (string | number)[];

export interface Told {
  readonly gesture?: string;
  readonly files?: readonly ArraysBeside[];
}

interface Waiting {
  readonly gesture: string;
  readonly ask: (revision: number) => Promise<Edited>;
  readonly done: (edited: Edited | null) => void;
}

/** [ms] between two questions after one that failed */
const TROUBLE = 1500;

export const samePath = (a: Path | null, b: Path | null): boolean => JSON.stringify(a) === JSON.stringify(b);

export class Desk {
  sheet: ShotSheet | null = null;
  news: ShotNews | null = null;
  /** of the object that is chosen */
  object: Path | null = null;
  /** [ms] from the last edit's being sent until its answer was shown */
  lastEdit = 0;
  /** the name of this page among those that change the shot */
  readonly tab: string = crypto.randomUUID();
  private readonly listeners: (() => void)[] = [];
  private readonly queue: Waiting[] = [];
  private sending = false;
  private following = false;
  private catching = false;
  private asked = false;

  constructor(
    private readonly session: Session,
    private readonly say: (text: string) => void,
    /** a run has a take: its number, and whether it was asked for here */
    private readonly arrived: (take: number, mine: boolean) => Promise<void>,
  ) {}

  /** Called whenever the sheet, the news or the object that is chosen is another. */
  on(act: () => void): void {
    this.listeners.push(act);
  }

  tell(): void {
    for (const act of this.listeners) act();
  }

  choose(object: Path): void {
    this.object = object;
    this.tell();
  }

  /** Reads the shot, and follows it from then on. */
  async open(): Promise<void> {
    await this.reload();
    if (!this.following) void this.follow();
  }

  /** Changes keys; null where that was refused, which is said. Of the edits of a gesture that wait only the newest goes. */
  edit(changes: readonly Change[], about: string, told: Told = {}): Promise<Edited | null> {
    const { gesture = "", files = [] } = told;
    const ask = (revision: number): Promise<Edited> => api.editShot({ revision, changes, files, about, gesture, tab: this.tab });
    return this.change(ask, files.length === 0 ? gesture : "");
  }

  /** As `edit`, of whatever else changes the shot of a revision. */
  change(ask: (revision: number) => Promise<Edited>, gesture = ""): Promise<Edited | null> {
    return new Promise((done) => {
      const last = this.queue.at(-1);
      if (last !== undefined && gesture !== "" && last.gesture === gesture) {
        this.queue.pop();
        last.done(null);
      }
      this.queue.push({ gesture, ask, done });
      void this.send();
    });
  }

  /** Whether an edit is on its way. */
  get busy(): boolean {
    return this.sending || this.queue.length > 0;
  }

  undo(): Promise<void> {
    return this.step("undo");
  }

  redo(): Promise<void> {
    return this.step("redo");
  }

  /** Keeps arrays on the server until an edit names them; their id. */
  async sendArrays(parcel: ArrayBuffer): Promise<string> {
    return (await api.sendArrays(parcel)).id;
  }

  async run(): Promise<void> {
    await this.whenSent();
    this.asked = true;
    try {
      this.take(await api.run(this.sheet?.revision ?? 0));
    } catch (error) {
      this.asked = false;
      await this.refused(error);
    }
  }

  async cancelRun(): Promise<void> {
    try {
      await api.cancelRun();
    } catch (error) {
      this.session.failed(error);
    }
  }

  private async step(which: "undo" | "redo"): Promise<void> {
    await this.whenSent();
    try {
      this.show((await api.stepShot(which, this.sheet?.revision ?? 0, this.tab)).sheet);
    } catch (error) {
      await this.refused(error);
    }
  }

  private async whenSent(): Promise<void> {
    while (this.busy) await pause(10);
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) next.done(await this.sendOne(next));
    this.sending = false;
    this.catchUp().catch((error: unknown) => this.session.failed(error)); // with what was told meanwhile
  }

  private async sendOne({ ask }: Waiting): Promise<Edited | null> {
    const begun = performance.now();
    try {
      const edited = await ask(this.sheet?.revision ?? 0);
      this.show(edited.sheet);
      this.lastEdit = performance.now() - begun;
      return edited;
    } catch (error) {
      await this.refused(error);
      return null;
    }
  }

  /** Says why, and shows what the file says. */
  private async refused(error: unknown): Promise<void> {
    this.session.failed(error);
    if (api.isGone(error)) return;
    try {
      await this.reload();
    } catch (again) {
      this.session.failed(again);
    }
  }

  private async reload(): Promise<void> {
    this.show(await api.shot());
  }

  private show(sheet: ShotSheet): void {
    if (this.sheet !== null && sheet.revision < this.sheet.revision) return; // an answer that was overtaken
    this.sheet = sheet;
    const there = sheet.objects.some(({ path }) => samePath(path, this.object));
    if (!there) this.object = (sheet.objects.find(({ role }) => role !== "obstacle") ?? sheet.objects[0])?.path ?? null;
    this.tell();
  }

  private async follow(): Promise<void> {
    this.following = true;
    for (;;) {
      if (document.hidden) await seen();
      const abort = new AbortController();
      const leave = (): void => {
        if (document.hidden) abort.abort();
      };
      document.addEventListener("visibilitychange", leave);
      try {
        const { news } = this;
        this.take(await api.shotNews(news?.revision ?? this.sheet?.revision ?? 0, news?.run ?? 0, abort.signal));
        await this.catchUp();
      } catch (error) {
        if (api.isAbort(error)) continue;
        this.session.failed(error);
        if (api.isGone(error)) break;
        await pause(TROUBLE);
      } finally {
        document.removeEventListener("visibilitychange", leave);
      }
    }
    this.following = false;
  }

  /** Shows what another made of the shot. */
  private async catchUp(): Promise<void> {
    if (this.catching) return;
    this.catching = true;
    try {
      while (!this.sending && this.isBehind) await this.catchUpOnce();
    } finally {
      this.catching = false;
    }
  }

  private get isBehind(): boolean {
    return this.news !== null && this.sheet !== null && this.news.revision > this.sheet.revision;
  }

  private async catchUpOnce(): Promise<void> {
    const news = this.news!;
    await this.reload();
    if (news.by === this.tab) return;
    this.say(news.by === "" ? "The shot file was edited outside of this page, and is shown anew." : `Another window changed the shot: ${news.about}.`);
  }

  private take(news: ShotNews): void {
    const before = this.news;
    this.news = news;
    const begun = news.take !== null && news.take >= this.session.takes.length && before?.take !== news.take;
    if (begun) void this.arrived(news.take, this.asked);
    if (before?.running === true && !news.running) {
      this.asked = false;
      if (news.failed && news.saying !== "") this.say(news.saying);
    }
    this.tell();
  }
}

const pause = (time: number): Promise<void> => new Promise((done) => window.setTimeout(done, time));

const seen = (): Promise<void> =>
  new Promise((done) => document.addEventListener("visibilitychange", () => done(), { once: true }));
