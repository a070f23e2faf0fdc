import { describe, expect, it } from "vitest";
import { findAcpProblems } from "../../../../test/support/acp/acp-schema.ts";
import type { AgentCommand } from "../../../domain/slash-commands.ts";
import type { AgentSpec } from "../../../domain/agent-spec.ts";
import { runCodec } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { PromptCommand } from "./client-request.ts";
import { encodeUpdateLine } from "../encode/acp-session-update.ts";
import {
  createCommandReply,
  expandCommand,
  createCommandsUpdate,
  parseSlashCommand,
} from "./slash-command.ts";
import { createUpdateEncoder } from "../encode/update-encoder.ts";

function prompt(...texts: readonly string[]): PromptCommand {
  return { type: "prompt", content: texts.map((text) => ({ type: "text", text })) };
}

const REVIEW = { name: "review", description: "Look at a change", prompt: "Review $ARGUMENTS." };

describe("List of slash commands", () => {
  it("The list contains the bridge's and the agent's commands in ACP's format [ACP-43]", () => {
    const update = createCommandsUpdate([{ ...REVIEW, hint: "a branch" }]);
    expect(findAcpProblems(JSON.parse(encodeUpdateLine("s", update)))).toEqual([]);
    expect(update.availableCommands.map((one) => Object(one).name)).toEqual([
      "status",
      "tools",
      "mode",
      "permissions",
      "compact",
      "review",
    ]);
    expect(update.availableCommands.at(-1)).toEqual({
      name: "review",
      description: "Look at a change",
      input: { hint: "a branch" },
    });
  });

  it("A long list and a long reply fit into the line limit", () => {
    const many = Array.from({ length: 100 }, (_, at) => ({
      ...REVIEW,
      name: `c${at}`,
      description: "\u0001".repeat(200),
    }));
    const line = encodeUpdateLine("s", createCommandsUpdate(many));
    expect(Buffer.byteLength(line)).toBeLessThan(48 * 1024);
    for (const update of createCommandReply("1", "\u0001".repeat(30_000))) {
      expect(Buffer.byteLength(encodeUpdateLine("s", update))).toBeLessThan(48 * 1024);
    }
  });
});

describe("Changed agent commands", () => {
  const bound = (seq: number, ...commands: readonly AgentCommand[]): Envelope => {
    const provider = { name: "p", injectionPoints: [], effectFree: false, canStop: false };
    const caps = { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 };
    const approvals = { deny: [], ask: [], allow: [], default: "ask" } as const;
    const spec: AgentSpec = {
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
    const event = { type: "agent.configured", digest: `${seq}`, spec } as const;
    return { sessionId: "s", seq, at: 0, visibility: "public", event };
  };

  it("A changed list is sent to attached clients only when it differs [ACP-43]", () => {
    const encoder = createUpdateEncoder({
      sessionId: "s",
      clientId: "me",
      upTo: 2,
      history: "shown",
    });
    const log = [bound(1), bound(2, REVIEW), bound(3, REVIEW), bound(4)];
    expect(runCodec(encoder, log)).toEqual([
      { type: "caught-up" },
      { type: "update", update: createCommandsUpdate([]) },
    ]);
  });
});

describe("Prompt with a slash command", () => {
  it.each([
    ["/status", { name: "status", argument: "" }],
    ["/mode  read-only \n", { name: "mode", argument: "read-only" }],
    ["/review a\nb", { name: "review", argument: "a\nb" }],
    ["/server:prompt x", { name: "server:prompt", argument: "x" }],
  ])("The prompt %j is parsed as a slash command [ACP-77]", (text, wanted) => {
    expect(parseSlashCommand(prompt(text, "more"))).toEqual(wanted);
  });

  it.each(["status", " /status", "/", "/ status", "/usr/bin/env is missing", "//status", ""])(
    "The prompt %j is not a slash command",
    (text) => {
      expect(parseSlashCommand(prompt(text))).toBe(undefined);
    },
  );

  it.each([
    ["Review $ARGUMENTS.", "main", "Review main."],
    ["$ARGUMENTS and $ARGUMENTS", "$& $1", "$& $1 and $& $1"],
    ["Review it.", "", "Review it."],
    ["Review it.", "soon", "Review it.\n\nsoon"],
    ["Review $ARGUMENTS.", "", "Review ."],
  ])(
    "The command text %j with the argument %j is expanded into a prompt [ACP-77]",
    (text, argument, wanted) => {
      const command = { ...REVIEW, prompt: text };
      const typed = { name: "review", argument };
      expect(expandCommand(prompt(`/review ${argument}`, "beside"), command, typed)).toEqual(
        prompt(wanted, "beside"),
      );
    },
  );
});
