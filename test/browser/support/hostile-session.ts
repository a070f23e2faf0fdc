import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { createToolCall, createToolError } from "../../../src/domain/tools/tool-call.ts";

/** Markup and code which would set `owned` if any part of it ran. */
export const HOSTILE_MARKUP = `<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script><svg onload="globalThis.owned=1"><iframe srcdoc="<script>parent.owned=1</script>"></iframe></script></textarea></title>"'\`&amp;`;

const HOSTILE_LINKS = [
  "[a](javascript:globalThis.owned=1)",
  "[b](JaVaScRiPt:globalThis.owned=1)",
  "[c](java\nscript:globalThis.owned=1)",
  "[d](data:text/html,<script>opener.owned=1</script>)",
  "[e](vbscript:owned)",
  "[f](//other.example/path)",
  "[g](https://user:password@other.example/%00)",
  "<javascript:globalThis.owned=1>",
  "![h](https://other.example/pixel.png)",
  "![i](javascript:globalThis.owned=1)",
  "[j]: javascript:globalThis.owned=1",
  "[j]",
].join("\n\n");

/** Reverses the text after it, and hides its own end. */
export const BIDI = "safe\u202Etxt.exe\u2066\u200B\u0000\u001b[31m";

export const HUGE_LINE = "x".repeat(100_000);
const MANY_LINES = "a line of output\n".repeat(5000);

export const HOSTILE = [HOSTILE_MARKUP, BIDI, HOSTILE_LINKS].join("\n");

/** A turn with hostile text in every place that shows text. */
export function createHostileEvents(): readonly SessionEvent[] {
  const block = { messageId: "msg_1", block: 0 };
  const inputText = JSON.stringify({
    [HOSTILE_MARKUP]: HOSTILE,
    ["__proto__"]: HOSTILE,
    constructor: HUGE_LINE,
    [BIDI]: { deep: [HOSTILE_MARKUP, [BIDI, { deeper: MANY_LINES }]] },
  });
  const toolCall = createToolCall({ id: "p1", name: HOSTILE_MARKUP, inputText, runBy: "client" });
  const result = createToolError("p1", `${HOSTILE}\n${HUGE_LINE}\n${MANY_LINES}`);
  return [
    { type: "prompt.accepted", promptId: "prompt_1", content: [{ type: "text", text: HOSTILE }] },
    { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
    {
      type: "message.sent",
      messageId: "msg_q",
      content: [{ type: "text", text: HOSTILE }],
      origin: "prompt",
      promptId: "prompt_1",
    },
    { type: "plan.updated", entries: [{ content: HOSTILE, priority: "high", status: "pending" }] },
    {
      type: "artifact.emitted",
      artifactId: `${BIDI}"><script>`,
      kind: "table",
      title: HOSTILE_MARKUP,
      mimeType: "text/html",
      spec: {
        columns: [HOSTILE_MARKUP, "__proto__"],
        rows: [[HOSTILE, BIDI], { ["__proto__"]: HOSTILE_MARKUP, constructor: HUGE_LINE }],
      },
      fallback: HOSTILE,
      sizeBytes: 1,
      provenance: {},
      metadata: { href: "javascript:globalThis.owned=1" },
      sha256: "",
    },
    {
      type: "handoff.emitted",
      handoffId: "handoff_1",
      artifactId: "artifact_1",
      handoff: {
        _type: "handoff_artifact",
        id: "handoff_1",
        kind: "handoff",
        parent_run_id: null,
        source_persona: HOSTILE_MARKUP,
        target_persona_or_human: { kind: "human", id: BIDI, label: HOSTILE, uri: "javascript:1" },
        task: HOSTILE,
        reason: HUGE_LINE,
        evidence_refs: [{ ref: HOSTILE_MARKUP }],
        files_or_entities_touched: [],
        open_questions: [],
        blocked_on: [],
        requested_capabilities: [],
        allowed_side_effects: [],
        budget_remaining: null,
        deadline_checkback: null,
        confidence: null,
        receipt_links: ["javascript:globalThis.owned=1"],
        route_decision: null,
        created_at: BIDI,
        metadata: {},
      },
    },
    { type: "message.started", messageId: "msg_1", role: "assistant" },
    { type: "thought.finished", ...block, text: `${HOSTILE}\n${HUGE_LINE}` },
    {
      type: "text.finished",
      messageId: "msg_1",
      block: 1,
      text: `${HOSTILE}\n\n${HUGE_LINE}\n\n\`\`\`html\n${HOSTILE_MARKUP}\n\`\`\`\n\n| ${HUGE_LINE} |\n|---|\n| ${BIDI} |\n`,
    },
    { type: "tool_call.opened", toolCallId: "tool_1", messageId: "msg_1", block: 2, name: BIDI },
    {
      type: "tool_call.received",
      toolCallId: "tool_1",
      messageId: "msg_1",
      block: 2,
      toolCall,
      problem: HOSTILE_MARKUP,
    },
    { type: "tool.started", toolCallId: "tool_1", attempt: 1, digest: "d1" },
    {
      type: "tool.finished",
      toolCallId: "tool_1",
      ending: "failed",
      result,
      durationMs: 1,
      attachments: {
        diffs: [{ path: `${BIDI}/${HOSTILE_MARKUP}`, oldText: HUGE_LINE, newText: HOSTILE }],
      },
    },
    {
      type: "diagnostic.raised",
      diagnostic: { code: "content_lost", message: HOSTILE },
    },
    { type: "message.finished", messageId: "msg_1", reason: "end_turn" },
    {
      type: "turn.finished",
      turnId: "turn_1",
      outcome: "failed",
      reason: HOSTILE_MARKUP,
      usage: null,
      steps: 1,
      failure: { code: "agent_failed", message: HOSTILE, details: {} },
    },
  ];
}
