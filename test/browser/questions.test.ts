import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage, type PortalPage } from "./support/portal-page.ts";
import { startScriptedBridge, type ScriptedBridge } from "./support/scripted-bridge.ts";

const asks = (question: object) => wants({ id: "q", name: "ask_user", input: { ...question } });

const form = {
  type: "object",
  properties: {
    version: { type: "string", title: "Version" },
    notify: { type: "boolean", title: "Notify the team" },
    channels: { type: "array", title: "Channels", items: { enum: ["mail", "chat"] } },
  },
  required: ["version"],
};

const QUESTIONS = {
  "ask freely": asks({ question: "Which city?" }),
  "ask for a choice": asks({ question: "Which currency?", options: ["EUR", "CHF"] }),
  "ask for a form": asks({ question: "How should the release be made?", schema: form }),
  "ask for consent": asks({ question: "Delete the old release?", kind: "approval" }),
};

/** A session in which the agent has asked. */
async function ask(prompt: keyof typeof QUESTIONS): Promise<{
  readonly bridge: ScriptedBridge;
  readonly portal: PortalPage;
}> {
  const bridge = await startScriptedBridge({ responses: QUESTIONS });
  const sessionId = await bridge.openSession("Questions");
  await bridge.prompt(sessionId, prompt);
  const tab = await (await createProfile()).openTab(bridge.createLink(sessionId));
  const portal = createPortalPage(tab);
  await portal.requests.waitFor();
  return { bridge, portal };
}

/** The last message to the agent. */
function readLast({ model }: ScriptedBridge): unknown {
  return model.modelRequests.at(-1)?.messages.at(-1);
}

/** A tool result with this text. */
function result(text: string): object {
  return { role: "tool", content: expect.stringContaining(text) };
}

it("A question in a thread is answered with free text, and the thread shows the answer", async () => {
  const { bridge, portal } = await ask("ask freely");
  expect(await portal.requests.textContent()).toContain("Which city?");
  await portal.requests.getByLabel("Your answer").fill("Zürich");
  await portal.decide("Send answer");
  await portal.waitForText("It is done.");
  await eventually(() => expect(readLast(bridge)).toMatchObject(result("Zürich")));
  await portal.requests.waitFor({ state: "detached" });
  await portal.conversation.getByText("ask_user").first().click();
  await portal.waitForText(/Answered.*Zürich/);
});

it("A question with options is answered with one of its buttons", async () => {
  const { bridge, portal } = await ask("ask for a choice");
  await portal.decide("CHF");
  await portal.waitForText("It is done.");
  await eventually(() => expect(readLast(bridge)).toMatchObject(result("CHF")));
});

it("A form reports a missing field, keeps the other entries, and sends all of them", async () => {
  const { bridge, portal } = await ask("ask for a form");
  await portal.requests.getByLabel("Notify the team").check();
  await portal.requests.getByLabel("chat").check();
  await portal.decide("Send answer");
  await portal.requests.getByText("This field is required").waitFor();
  await portal.requests.getByLabel("Version").fill("1.2.0");
  await portal.decide("Send answer");
  await portal.waitForText("It is done.");
  await eventually(() => expect(readLast(bridge)).toMatchObject(result('"version":"1.2.0"')));
  await eventually(() => expect(readLast(bridge)).toMatchObject(result('"notify":true')));
  await eventually(() => expect(readLast(bridge)).toMatchObject(result('"channels":["chat"]')));
});

it("A question is declined with a reason, which the agent receives", async () => {
  const { bridge, portal } = await ask("ask freely");
  await portal.decide(/^Decline/);
  await portal.page.getByLabel(/Reason/).fill("ask the owner");
  await portal.decide(/^Decline/);
  await portal.waitForText("It is done.");
  await eventually(() => expect(readLast(bridge)).toMatchObject(result("ask the owner")));
});

it("A request for consent is answered in the inbox by keys, right after the link to the inbox was pressed", async () => {
  const { bridge, portal } = await ask("ask for consent");
  await portal.page.getByRole("link", { name: /^Inbox/ }).click();
  await portal.requests.waitFor();
  await portal.page.keyboard.press("j");
  await portal.page.keyboard.press("a");
  await portal.requests.waitFor({ state: "detached" });
  await eventually(() => expect(readLast(bridge)).toMatchObject(result("approved")));
});
