import type { JsonObject } from "../../data/json.ts";
import {
  EMIT_HANDOFF_TOOL,
  MAX_HANDOFF_ITEMS,
  MAX_HANDOFF_TEXT,
  readHandoffRequest,
} from "../../domain/outputs/handoff.ts";
import { createToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { createRuntimeTool } from "./create-runtime-tool.ts";

/** Creates the tool `emit_handoff`, which hands work over to another agent or to a person. */
export function createEmitHandoffTool(): Tool {
  return createRuntimeTool({
    name: EMIT_HANDOFF_TOOL,
    description:
      "Hands work over to another agent or to a person: records the task, the reason and everything the target needs. " +
      "The handoff starts no work: name the next owner in your answer, too.",
    schema: HANDOFF_SCHEMA,
    findProblem: (input) => {
      const handoff = readHandoffRequest(input);
      return handoff.ok ? undefined : handoff.problem;
    },
    run(input) {
      const handoff = readHandoffRequest(input);
      // Unreachable: `findProblem` has accepted the arguments.
      if (!handoff.ok) throw new Error(handoff.problem);
      const { request } = handoff;
      const text = `The handoff to ${request.target_persona_or_human.label} is recorded.`;
      return createToolOutput({ text, emissions: [{ type: "handoff", handoff: request }] });
    },
  });
}

const TEXT = { type: "string", maxLength: MAX_HANDOFF_TEXT } as const;
const TEXTS = { type: "array", maxItems: MAX_HANDOFF_ITEMS, items: { type: "string" } } as const;

const HANDOFF_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    target_persona_or_human: {
      type: ["object", "string"],
      description: "The next owner of the task",
      properties: {
        kind: { type: "string", enum: ["persona", "human"], description: "default: persona" },
        id: { type: "string" },
        label: { type: "string", description: "default: the id" },
        uri: { type: "string" },
      },
      required: ["id"],
      additionalProperties: false,
    },
    task: { ...TEXT, minLength: 1, description: "The task of the target" },
    reason: { ...TEXT, description: "The reason for the handoff" },
    evidence_refs: {
      type: "array",
      maxItems: MAX_HANDOFF_ITEMS,
      items: { type: ["string", "object"] },
      description: "References to evidence: strings, or objects with kind and ref",
    },
    files_or_entities_touched: TEXTS,
    open_questions: TEXTS,
    blocked_on: TEXTS,
    requested_capabilities: TEXTS,
    allowed_side_effects: TEXTS,
    budget_remaining: {
      type: "object",
      properties: {
        tokens: { type: "number", minimum: 0 },
        tool_calls: { type: "number", minimum: 0 },
        dollars: { type: "number", minimum: 0 },
      },
      additionalProperties: false,
    },
    deadline_checkback: { ...TEXT, description: "Time of the next report of the target" },
    confidence: { type: "number", minimum: 0, maximum: 1 },
    receipt_links: TEXTS,
    source_persona: { ...TEXT, description: "default: the name of the agent" },
    route_decision: { type: "object" },
    metadata: { type: "object" },
  },
  required: ["target_persona_or_human", "task"],
  additionalProperties: false,
};
