import { pluralize } from "../../text/pluralize.ts";
import type { JsonObject } from "../../data/json.ts";
import {
  EMIT_PLAN_TOOL,
  normalizePlan,
  PLAN_STATUS_NAMES,
  toPlanEntries,
  UPDATE_PLAN_TOOL,
} from "../../domain/outputs/harn-plan.ts";
import {
  MAX_ENTRY_LENGTH,
  MAX_ENTRIES,
  PLAN_PRIORITIES,
  type PlanEntry,
} from "../../domain/outputs/plan.ts";
import { createToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { createRuntimeTool } from "./create-runtime-tool.ts";

/** Creates the tool `update_plan`, which shows the agent's plan to people. */
export function createUpdatePlanTool(): Tool {
  return createRuntimeTool({
    name: UPDATE_PLAN_TOOL,
    description:
      "Shows the user your plan for work of several steps. Pass the complete list each time: it replaces the previous list. " +
      "Mark an entry in_progress when you start it and completed as soon as it is done; keep only one in progress.",
    schema: {
      type: "object",
      properties: {
        entries: {
          ...STEPS,
          description: "The complete plan, in order; an empty list clears it",
        },
        ...DETAILS,
      },
      additionalProperties: false,
    },
    findProblem: findMissingPlan,
    run: (input) => showPlan(UPDATE_PLAN_TOOL, input),
  });
}

/** Creates the tool `emit_plan`, which shows a new plan with its assumptions and questions. */
export function createEmitPlanTool(): Tool {
  return createRuntimeTool({
    name: EMIT_PLAN_TOOL,
    description:
      "Shows the user a new plan with its summary, assumptions, open questions and the commands which verify it. " +
      `The plan replaces the previous one. Use ${UPDATE_PLAN_TOOL} for the progress of its steps.`,
    schema: { type: "object", properties: DETAILS, additionalProperties: false },
    findProblem: findMissingPlan,
    run: (input) => showPlan(EMIT_PLAN_TOOL, input),
  });
}

const STEP: JsonObject = {
  type: ["object", "string"],
  properties: {
    id: { type: "string", maxLength: 100 },
    content: { type: "string", minLength: 1, maxLength: MAX_ENTRY_LENGTH },
    status: { type: "string", enum: [...PLAN_STATUS_NAMES] },
    priority: { type: "string", enum: [...PLAN_PRIORITIES], description: "default: medium" },
  },
};
const STEPS: JsonObject = { type: "array", maxItems: MAX_ENTRIES, items: STEP };
const TEXTS: JsonObject = { type: ["array", "string"], items: { type: "string" } };

/** Synonyms are accepted and not described: a description of several names for one field would confuse a model. */
const DETAILS: JsonObject = {
  title: { type: "string" },
  summary: { type: "string" },
  steps: STEPS,
  assumptions: TEXTS,
  open_questions: TEXTS,
  verification_commands: TEXTS,
  approval: { type: "object" },
  plan: { type: ["object", "array"] },
  tasks: STEPS,
  name: { type: "string" },
  explanation: { type: "string" },
  direction: { type: "string" },
  questions: TEXTS,
  unknowns: TEXTS,
  verification: TEXTS,
  verify_commands: TEXTS,
};

function findMissingPlan(input: JsonObject): string | undefined {
  return Object.keys(input).length === 0 ? "a plan needs steps or a summary" : undefined;
}

function showPlan(tool: string, input: JsonObject): unknown {
  const plan = normalizePlan(tool, input);
  const { entries } = input;
  // Only an explicitly empty list clears the plan. A plan with a summary and no steps is a plan.
  if (Array.isArray(entries) && entries.length === 0 && plan.steps.length === 0)
    return createToolOutput({ text: formatPlan([]), plan: [] });
  const text = formatPlan(toPlanEntries(plan));
  return createToolOutput({ text, emissions: [{ type: "plan", plan }] });
}

function formatPlan(plan: readonly PlanEntry[]): string {
  if (plan.length === 0) return "The plan is empty now";
  const done = plan.filter(({ status }) => status === "completed").length;
  return `The plan is shown to the user: ${pluralize(plan.length, "entry", "entries")}, ${done} completed`;
}
