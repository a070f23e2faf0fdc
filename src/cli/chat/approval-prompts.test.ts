import { expect, it } from "vitest";
import type { PermissionRequest } from "../../host/index.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { createApprovalPrompts } from "./approval-prompts.ts";
import type { ChatScreen } from "./chat-screen.ts";

it("The printed decision contains no control characters", async () => {
  const printed: string[] = [];
  let isPut = (): void => {};
  const put = new Promise<void>((resolve) => (isPut = resolve));
  const screen: ChatScreen = {
    width: 80,
    print: (rows) => void printed.push(...rows),
    show: () => {},
    setPrompt: () => isPut(),
    suspendInput: async () => () => {},
    prefillInput: () => {},
    close: () => {},
  };
  const nothing = (): void => {};
  const asking = createApprovalPrompts({
    screen,
    style: PLAIN_STYLE,
    hold: nothing,
    release: nothing,
    hasLostControl: () => false,
  });
  const { signal } = new AbortController();
  const reply = asking.requestDecision(QUESTION, { signal });
  await put;
  asking.answer("y");
  expect(await reply).toEqual({ option: "allow" });
  expect(printed.at(-1)).toBe(String.raw`  You chose: \u{1b}[2JAllow`);
  expect(printed.join("\n")).not.toContain("\u001b");
});

const QUESTION: PermissionRequest = {
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
  isFromBridge: true,
  context: { content: [], mutation: null, paths: [] },
};
