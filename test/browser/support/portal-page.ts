import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { eventually } from "../../support/eventually.ts";
import type { Tab } from "./browser-tabs.ts";

/** The portal in a tab, as its users find its parts: by role and name. */
export interface PortalPage extends Tab {
  /** The items of the open session. */
  readonly conversation: Locator;
  /** The field for a message. */
  readonly field: Locator;
  /** The open requests of the page, in the inbox or in the conversation. */
  readonly requests: Locator;
  /** The title, the state, the agent and the folder of the session. */
  readonly header: Locator;
  /** Types a message and sends it with Enter. */
  send(text: string): Promise<void>;
  /** Waits until the text is shown in the conversation. */
  waitForText(text: string | RegExp): Promise<void>;
  /** Waits until the conversation shows a text exactly this often. */
  waitForCount(text: string | RegExp, count: number): Promise<void>;
  /** Presses a button of the only open request. */
  decide(name: string | RegExp): Promise<void>;
}

/** The kind of a request, then its sentence. */
const REQUEST_NAME =
  /^(?:Tool call|Question|Interrupted tool|Lost response|Budget|Approval|Dual control|Escalation): /;

export function createPortalPage(tab: Tab): PortalPage {
  const { page } = tab;
  const conversation = page.getByRole("group", { name: "Conversation" });
  const field = page.getByRole("textbox", { name: "Message" });
  const requests = page
    .getByRole("region", { name: /needs a decision$/ })
    .or(page.getByRole("region", { name: REQUEST_NAME }));
  return {
    ...tab,
    conversation,
    field,
    requests,
    header: page.locator("main > header"),
    async send(text) {
      await field.fill(text);
      await field.press("Enter");
    },
    waitForText: (text) => conversation.getByText(text).first().waitFor(),
    async waitForCount(text, count) {
      await eventually(async () => expect(await conversation.getByText(text).count()).toBe(count));
    },
    decide: (name) => requests.getByRole("button", { name }).click(),
  };
}
