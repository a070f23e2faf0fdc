import { describe, expect, it } from "vitest";
import { acpProblems } from "../../../test/support/acp-schema.ts";
import type { AgentCommand } from "../../domain/agent-command.ts";
import type { AgentFacts } from "../../domain/agent-event.ts";
import { runCodec } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import type { PromptCommand } from "./client-request.ts";
import { updateLine } from "./session-update.ts";
import { commandAnswer, commandedPrompt, commandsUpdate, slashCommand } from "./slash-commands.ts";
import { updateEncoder } from "./update-encoder.ts";

function prompt(...texts: readonly string[]): PromptCommand {
  return { type: "prompt", content: texts.map((text) => ({ type: "text", text })) };
}

const REVIEW = { name: "review", description: "Look at a change", prompt: "Review $ARGUMENTS." };

describe("what can be typed", () => {
  it("is listed as ACP has it: the bridge's own, and the agent's [ACP-43]", () => {
    const update = commandsUpdate([{ ...REVIEW, hint: "a branch" }]);
    expect(acpProblems(JSON.parse(updateLine("s", update)))).toEqual([]);
    expect(update.availableCommands.map((one) => Object(one).name)).toEqual([
      "status",
      "tools",
      "mode",
      "permissions",
      "review",
    ]);
    expect(update.availableCommands.at(-1)).toEqual({
      name: "review",
      description: "Look at a change",
      input: { hint: "a branch" },
    });
  });

  it("has room in a line, however much there is", () => {
    const many = Array.from({ length: 100 }, (_, at) => ({
      ...REVIEW,
      name: `c${at}`,
      description: "\u0001".repeat(200),
    }));
    const line = updateLine("s", commandsUpdate(many));
    expect(Buffer.byteLength(line)).toBeLessThan(48 * 1024);
    for (const update of commandAnswer("1", "\u0001".repeat(30_000))) {
      expect(Buffer.byteLength(updateLine("s", update))).toBeLessThan(48 * 1024);
    }
  });
});

describe("an agent that has other commands than before", () => {
  const bound = (seq: number, ...commands: readonly AgentCommand[]): Envelope => {
    const provider = { name: "p", seams: [], effectFree: false, canStop: false };
    const caps = { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 };
    const approvals = { deny: [], ask: [], allow: [], otherwise: "ask" } as const;
    const definition: AgentFacts = {
      name: "a",
      provider,
      tools: [],
      approvals,
      caps,
      onLost: "ask",
      settle: "wait",
      approvalMs: 1,
      commands,
    };
    const event = { type: "agent.bound", digest: `${seq}`, definition } as const;
    return { sessionId: "s", seq, at: 0, visibility: "public", event };
  };

  it("is told of to clients that are there, and only then [ACP-43]", () => {
    const encoder = updateEncoder({ sessionId: "s", clientId: "me", upTo: 2, history: "shown" });
    const log = [bound(1), bound(2, REVIEW), bound(3, REVIEW), bound(4)];
    expect(runCodec(encoder, log)).toEqual([
      { type: "caught-up" },
      { type: "update", update: commandsUpdate([]) },
    ]);
  });
});

describe("a prompt that begins with a command", () => {
  it.each([
    ["/status", { name: "status", given: "" }],
    ["/mode  read-only \n", { name: "mode", given: "read-only" }],
    ["/review a\nb", { name: "review", given: "a\nb" }],
    ["/server:prompt x", { name: "server:prompt", given: "x" }],
  ])("is read as one: %j [ACP-77]", (text, wanted) => {
    expect(slashCommand(prompt(text, "more"))).toEqual(wanted);
  });

  it.each(["status", " /status", "/", "/ status", "/usr/bin/env is missing", "//status", ""])(
    "is none: %j",
    (text) => {
      expect(slashCommand(prompt(text))).toBe(undefined);
    },
  );

  it.each([
    ["Review $ARGUMENTS.", "main", "Review main."],
    ["$ARGUMENTS and $ARGUMENTS", "$& $1", "$& $1 and $& $1"],
    ["Review it.", "", "Review it."],
    ["Review it.", "soon", "Review it.\n\nsoon"],
    ["Review $ARGUMENTS.", "", "Review ."],
  ])("becomes what the command stands for: %j with %j [ACP-77]", (text, given, wanted) => {
    const command = { ...REVIEW, prompt: text };
    const typed = { name: "review", given };
    expect(commandedPrompt(prompt(`/review ${given}`, "beside"), command, typed)).toEqual(
      prompt(wanted, "beside"),
    );
  });
});
