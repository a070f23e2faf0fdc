import type { JsonObject } from "../../data/json.ts";
import {
  readWatchRequest,
  WATCH_FILES_TOOL,
  WATCH_LIMITS,
} from "../../domain/outputs/file-watch.ts";
import { createToolOutput } from "../../domain/tools/tool-output.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { createRuntimeTool } from "./create-runtime-tool.ts";

/** Creates the tool `watch_files`, which subscribes the agent to changes of files. */
export function createWatchFilesTool(): Tool {
  const tool = createRuntimeTool({
    name: WATCH_FILES_TOOL,
    description:
      "Watches files and folders of the workspace for a day. You receive the changes with your next step. " +
      "Pass unwatch with the id of a subscription to end the subscription.",
    schema: {
      type: "object",
      properties: {
        paths: {
          type: "array",
          maxItems: WATCH_LIMITS.paths,
          items: { type: "string", minLength: 1 },
          description: "Files and folders, with their subfolders; default: the workspace",
        },
        globs: {
          type: "array",
          maxItems: WATCH_LIMITS.globs,
          items: { type: "string", minLength: 1, maxLength: WATCH_LIMITS.globLength },
          description: "Only paths which match one of the patterns, such as src/**/*.ts",
        },
        unwatch: { type: "string", description: "Id of the subscription to end" },
      },
      additionalProperties: false,
    },
    findProblem: (input) => {
      const request = readWatchRequest(input);
      return typeof request === "string" ? request : undefined;
    },
    run: changeSubscription,
  });
  const traits = {
    kind: "read",
    sideEffect: "read_only",
    paths: ["paths"],
    executor: { type: "builtin" },
  } as const;
  return { ...tool, spec: { ...tool.spec, traits } };
}

function changeSubscription(input: JsonObject, { toolCallId }: ToolContext): unknown {
  const { unwatch } = input;
  if (typeof unwatch === "string") {
    const text = `If ${unwatch} was a subscription of yours, it has ended.`;
    return createToolOutput({ text, emissions: [{ type: "unwatch", subscriptionId: unwatch }] });
  }
  const watch = readWatchRequest(input);
  // Unreachable: `findProblem` has accepted the arguments.
  if (typeof watch === "string") throw new SpanlineError("invalid_tool_input", watch);
  // The same for every attempt of the call.
  const subscriptionId = `fsw_${toolCallId}`;
  const text = `The subscription ${subscriptionId} is active.`;
  return createToolOutput({ text, emissions: [{ type: "watch", subscriptionId, watch }] });
}
