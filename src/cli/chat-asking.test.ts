import { expect, it } from "vitest";
import type { PermissionQuestion } from "../host/index.ts";
import { PLAIN } from "../inspect/style.ts";
import { chatAsking } from "./chat-asking.ts";
import type { ChatScreen } from "./chat-screen.ts";

it("says what was answered in words that do not steer the terminal", async () => {
  const printed: string[] = [];
  let isPut = (): void => {};
  const put = new Promise<void>((resolve) => (isPut = resolve));
  const screen: ChatScreen = {
    width: 80,
    print: (rows) => void printed.push(...rows),
    show: () => {},
    prompt: () => isPut(),
    setAside: async () => () => {},
    offer: () => {},
    close: () => {},
  };
  const nothing = (): void => {};
  const asking = chatAsking({
    screen,
    style: PLAIN,
    hold: nothing,
    release: nothing,
    isTakenOver: () => false,
  });
  const { signal } = new AbortController();
  const reply = asking.ask(QUESTION, { signal });
  await put;
  asking.answer("y");
  expect(await reply).toEqual({ option: "allow" });
  expect(printed.at(-1)).toBe(String.raw`  You said: \u{1b}[2JAllow`);
  expect(printed.join("\n")).not.toContain("\u001b");
});

const QUESTION: PermissionQuestion = {
  sessionId: "s",
  approval: {
    id: "t1",
    action: "save",
    args: {},
    truncated: null,
    attempt: 1,
    principal: null,
    requestedAt: null,
    deadline: null,
    approversRequired: 1,
    evidence: [],
    capabilities: [],
    undo: {},
  },
  rationale: null,
  options: [
    { id: "allow", name: "\u001b[2JAllow", kind: "allow_once" },
    { id: "deny", name: "Deny", kind: "reject_once" },
  ],
  isYesOrNo: true,
  isBridge: true,
  context: { content: [], mutation: null, paths: [] },
};
