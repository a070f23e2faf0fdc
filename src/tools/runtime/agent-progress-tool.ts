import type { JsonObject } from "../../data/json.ts";
import { normalizePlan, PLAN_STATUS_NAMES, toPlanEntries } from "../../domain/outputs/harn-plan.ts";
import { MAX_ENTRIES, MAX_ENTRY_LENGTH } from "../../domain/outputs/plan.ts";
import {
  AGENT_PROGRESS_TOOL,
  MAX_REPORT_LENGTH,
  readProgressReport,
} from "../../domain/outputs/progress-report.ts";
import { createToolOutput, type ToolEmission } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { createRuntimeTool } from "./create-runtime-tool.ts";

/** Creates the tool `agent_progress`: entries replace the plan, a message is narration. */
export function createAgentProgressTool(): Tool {
  return createRuntimeTool({
    name: AGENT_PROGRESS_TOOL,
    description:
      "Reports your progress to the user while you work: a message in one sentence, optionally with numbers, " +
      "or the complete list of entries, which replaces your plan.",
    schema: PROGRESS_SCHEMA,
    findProblem: (input) => {
      const { message, entries } = input;
      if (message === undefined && entries === undefined) return "expected message or entries";
      const report = message === undefined ? undefined : readProgressReport(input);
      return typeof report === "string" ? report : undefined;
    },
    run: reportProgress,
  });
}

function reportProgress(input: JsonObject): unknown {
  const { message, entries } = input;
  const report = message === undefined ? undefined : readProgressReport(input);
  // Unreachable: `findProblem` has accepted the arguments.
  if (typeof report === "string") throw new Error(report);
  const emissions: readonly ToolEmission[] =
    report === undefined ? [] : [{ type: "progress", progress: report }];
  if (!Array.isArray(entries)) return createToolOutput({ text: "Reported", emissions });
  const content = normalizePlan(AGENT_PROGRESS_TOOL, { entries });
  const plan = content.steps.length === 0 ? [] : toPlanEntries(content);
  return createToolOutput({ text: "Reported", plan, emissions });
}

const PROGRESS_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    message: { type: "string", minLength: 1, maxLength: MAX_REPORT_LENGTH },
    entries: {
      type: "array",
      maxItems: MAX_ENTRIES,
      items: {
        type: "object",
        properties: {
          content: { type: "string", minLength: 1, maxLength: MAX_ENTRY_LENGTH },
          status: { type: "string", enum: [...PLAN_STATUS_NAMES] },
        },
        required: ["content", "status"],
      },
    },
    progress: { type: "number", description: "The finished part, in your own unit" },
    total: { type: "number", description: "The whole, in the same unit" },
    data: { type: "object" },
  },
  additionalProperties: false,
};
