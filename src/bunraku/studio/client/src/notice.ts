/** What went wrong, in one calm sentence with what to do; and small things that went well. */

import { isGone } from "./api";
import { el } from "./dom";

export type Connection = "here" | "gone" | "refused";

const LOST = {
  gone: "The server does not answer; what is loaded stays. If bunraku view has ended, start it again and open the address it prints.",
  refused: "The server does not take this page's token; open the address that bunraku view printed last.",
};

export class Notice {
  readonly root = el("div", { class: "notices", role: "status", "aria-live": "polite" });
  connection: Connection = "here";
  /** the sentence shown, "" when all is well */
  text = "";
  /** what was to be known for a moment since the page was opened, the newest last */
  readonly said: string[] = [];
  private readonly lasting = el("p", { class: "lasting", hidden: true });
  private readonly passing = el("p", { class: "passing", hidden: true });
  private timer = 0;

  constructor(private readonly lost: () => void) {
    this.root.append(this.lasting, this.passing);
  }

  /** Something to be known for a moment. */
  say(text: string): void {
    this.said.push(text);
    if (this.said.length > 100) this.said.shift();
    this.passing.textContent = text;
    this.passing.hidden = false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.passing.hidden = true), 4500);
  }

  failed(error: unknown): void {
    if (isGone(error)) this.disconnect(error.status === 0 ? "gone" : "refused");
    else this.say(error instanceof Error ? error.message : String(error));
  }

  private disconnect(connection: "gone" | "refused"): void {
    const text = LOST[connection];
    const before = this.connection;
    this.connection = connection;
    this.text = text;
    this.lasting.textContent = text;
    this.lasting.hidden = false;
    if (before === "here") this.lost();
  }

  back(): void {
    if (this.connection === "here") return;
    this.connection = "here";
    this.text = "";
    this.lasting.hidden = true;
    this.say("The server is back.");
  }
}
