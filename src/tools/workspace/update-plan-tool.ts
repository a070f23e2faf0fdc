import { pluralize } from "../../text/pluralize.ts";
import type { JsonObject } from "../../data/json.ts";
import {
  MAX_ENTRY_LENGTH,
  MAX_ENTRIES,
  PLAN_PRIORITIES,
  readPlan,
  type PlanEntry,
} from "../../domain/plan.ts";
import { createToolOutput } from "../../domain/tools/tool-output.ts";
import { defineTool } from "../define-tool.ts";
import type { Tool } from "../tool.ts";

/** Shows the agent's plan to people. Has no other effect. */
export function createUpdatePlanTool(): Tool {
  const tool = defineTool({
    name: "update_plan",
    description:
      "Shows the user your plan for work of several steps. Pass the complete list each time: it replaces the previous list. " +
      "Mark an entry in_progress when you start it and completed as soon as it is done; keep only one in progress.",
    input: {
      type: "object",
      properties: {
        entries: {
          type: "array",
          maxItems: MAX_ENTRIES,
          description: "The complete plan, in order; an empty list clears it",
          items: {
            type: "object",
            properties: {
              content: { type: "string", minLength: 1, maxLength: MAX_ENTRY_LENGTH },
              status: { type: "string", enum: ["pending", "in_progress", "completed"] },
              priority: {
                type: "string",
                enum: [...PLAN_PRIORITIES],
                description: "default: medium",
              },
            },
            required: ["content", "status"],
            additionalProperties: false,
          },
        },
      },
      required: ["entries"],
      additionalProperties: false,
    },
    idempotent: true,
    timeoutMs: 10_000,
    run({ entries }: JsonObject) {
      const plan = readPlan(entries) ?? [];
      return createToolOutput({ text: formatPlan(plan), plan });
    },
  });
  const traits = { kind: "think", sideEffect: "none", executor: { type: "builtin" } } as const;
  return { ...tool, spec: { ...tool.spec, traits } };
}

function formatPlan(plan: readonly PlanEntry[]): string {
  if (plan.length === 0) return "The plan is empty now";
  const done = plan.filter(({ status }) => status === "completed").length;
  return `The plan is shown to the user: ${pluralize(plan.length, "entry", "entries")}, ${done} completed`;
}
