import { describe, expect, it } from "vitest";
import { CONNECTION_GONE, type PermissionRequest } from "../../host/index.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { createApprovalPrompts, type ApprovalPrompts } from "./approval-prompts.ts";
import type { ChatScreen } from "./chat-screen.ts";

/** Opens prompts on a screen that records its rows. `shown` resolves when a question is open. */
function openPrompts() {
  const printed: string[] = [];
  let isPut = (): void => {};
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
  const prompts = createApprovalPrompts({
    screen,
    style: PLAIN_STYLE,
    hold: nothing,
    release: nothing,
    hasLostControl: () => false,
  });
  /** Requests a decision and resolves when the question is open. */
  async function request() {
    const end = new AbortController();
    const put = new Promise<void>((resolve) => (isPut = resolve));
    const reply = prompts.requestDecision(QUESTION, { signal: end.signal });
    await put;
    return { reply, end };
  }
  return { printed, prompts, request };
}

it("The printed decision contains no control characters", async () => {
  const { printed, prompts, request } = openPrompts();
  const { reply } = await request();
  prompts.answer("y");
  expect(await reply).toEqual({ option: "allow" });
  expect(printed.at(-1)).toBe(String.raw`  You chose: \u{1b}[2JAllow`);
  expect(printed.join("\n")).not.toContain("\u001b");
});

it("The fields of a question are requested one after the other, and an approval waits until the question is closed", async () => {
  const { printed, prompts } = openPrompts();
  const { signal } = new AbortController();
  const field = { label: "", description: null, isRequired: true, choices: [] };
  const fields = [
    { ...field, name: "city", label: "City", type: "string" },
    { ...field, name: "nights", label: "Nights", type: "integer" },
  ];
  const request = { sessionId: "s", id: null, message: "Book?", schema: {}, fields };
  const reply = prompts.requestAnswer(request, { signal });
  const approval = prompts.requestDecision(QUESTION, { signal });
  for (const line of ["Bern", "many", "2"]) await typeLine(prompts, line);
  expect(await reply).toEqual({ answer: { city: "Bern", nights: 2 } });
  await typeLine(prompts, "n");
  expect(await approval).toEqual({ option: "deny" });
  expect(printed.filter((row) => row.includes("whole number"))).toHaveLength(1);
});

it("A path is an answer to a question for a text, and not to an approval", async () => {
  const { prompts, request } = openPrompts();
  await request();
  expect(["y", "/tmp"].map((line) => prompts.isAnswer(line))).toEqual([true, false]);
  prompts.answer("y");
  const { signal } = new AbortController();
  const choices = { isRequired: true, choices: [] };
  const fields = [{ ...choices, name: "f", label: "Folder", type: "string", description: null }];
  const text = { sessionId: "s", id: null, message: "Where?", schema: {}, fields };
  void prompts.requestAnswer(text, { signal });
  await eventually(() => expect(prompts.isAnswer("/tmp")).toBe(true));
});

/** Types a line when a question is open. */
async function typeLine(prompts: ApprovalPrompts, line: string): Promise<void> {
  await eventually(() => expect(prompts.isOpen).toBe(true));
  prompts.answer(line);
  await Promise.resolve();
}

describe("A line typed after an approval was closed", () => {
  it.each([
    ["expired or was decided elsewhere", undefined],
    ["lost its connection", CONNECTION_GONE],
  ])("One answer to an approval that %s is recognized as late", async (_, reason) => {
    const { prompts, request } = openPrompts();
    const { reply, end } = await request();
    end.abort(reason);
    expect(await reply).toBe("leave");
    const lines = [" ", "y", "y"].map((line) => prompts.consumeLateAnswer(line));
    expect(lines).toEqual([false, true, false]);
  });

  it("Another line is not a late answer, and the answers after it are prompts", async () => {
    const { prompts, request } = openPrompts();
    const { reply, end } = await request();
    end.abort();
    await reply;
    expect(["Go on", "y"].map((line) => prompts.consumeLateAnswer(line))).toEqual([false, false]);
  });

  it("After a decision of the user, the same answer is a prompt", async () => {
    const { prompts, request } = openPrompts();
    const first = await request();
    first.end.abort();
    await first.reply;
    const second = await request();
    prompts.answer("n");
    expect(await second.reply).toEqual({ option: "deny" });
    expect(prompts.consumeLateAnswer("n")).toBe(false);
  });
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
