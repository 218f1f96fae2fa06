/** What went wrong, in one calm sentence with what to do; and small things that went well. */

import { ServerError } from "./api";
import { el } from "./dom";

export type Connection = "here" | "gone" | "refused";

export class Notice {
  readonly root = el("div", { class: "notices", role: "status", "aria-live": "polite" });
  connection: Connection = "here";
  /** the sentence shown, "" when all is well */
  text = "";
  private readonly lasting = el("p", { class: "lasting", hidden: true });
  private readonly passing = el("p", { class: "passing", hidden: true });
  private timer = 0;

  constructor(private readonly lost: () => void) {
    this.root.append(this.lasting, this.passing);
  }

  /** Something to be known for a moment. */
  say(text: string): void {
    this.passing.textContent = text;
    this.passing.hidden = false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.passing.hidden = true), 4500);
  }

  failed(error: unknown): void {
    if (error instanceof ServerError && error.status === 0) this.disconnect("gone", "The server does not answer; what is loaded stays. If bunraku view has ended, start it again and open the address it prints.");
    else if (error instanceof ServerError && error.status === 403) this.disconnect("refused", "The server does not take this page's token; open the address that bunraku view printed last.");
    else this.say(error instanceof Error ? error.message : String(error));
  }

  private disconnect(connection: Connection, text: string): void {
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
