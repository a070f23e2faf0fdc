import type { JsonObject } from "../data/json.ts";
import { SpanlineError } from "../domain/errors.ts";
import { BUDGET_UNITS } from "../domain/budget.ts";
import { CLOSE_AGENT_TOOL, DELEGATE_TOOL, WORKER_TRIGGER_TOOL } from "../domain/workers/worker.ts";
import {
  MAX_TASK_LENGTH,
  MAX_WORKER_NAME_LENGTH,
  readDelegateRequest,
} from "../domain/workers/worker-request.ts";
import { defineTool } from "./define-tool.ts";
import type { Tool } from "./tool.ts";

/**
 * The tools with which an agent delegates to workers. The session performs their calls
 * (`session/tools/worker-calls.ts`), so that a worker survives restarts; `run` is never called.
 *
 * `agents`: names of the agents for workers, the default first.
 */
export function createWorkerTools(agents: readonly string[]): readonly Tool[] {
  return [
    createTool({
      name: DELEGATE_TOOL,
      description:
        "Delegates a task to a worker: another agent with its own conversation, which sees nothing of yours. Describe the task completely. " +
        "The result is the worker's last message. With `background`, the result is the worker's id, and a reminder follows when the worker is done. " +
        "With `retriggerable`, the worker waits for worker_trigger afterwards and remembers its conversation.",
      schema: createDelegateSchema(agents),
      check: (input) => {
        const request = readDelegateRequest(input);
        return typeof request === "string" ? request : undefined;
      },
    }),
    createTool({
      name: WORKER_TRIGGER_TOOL,
      description:
        "Sends the next task to a retriggerable worker which waits. The result is as for delegate.",
      schema: {
        type: "object",
        properties: {
          worker_id: WORKER_ID,
          payload: { description: "The next task: a text or any JSON value" },
        },
        required: ["worker_id", "payload"],
        additionalProperties: false,
      },
    }),
    createTool({
      name: CLOSE_AGENT_TOOL,
      description:
        "Ends a worker, also during its work. A closed worker cannot be triggered again.",
      schema: {
        type: "object",
        properties: { worker_id: WORKER_ID },
        required: ["worker_id"],
        additionalProperties: false,
      },
    }),
  ];
}

const WORKER_ID = { type: "string", minLength: 1, description: "The id of the worker" } as const;

function createDelegateSchema(agents: readonly string[]): JsonObject {
  const name = { type: "string", minLength: 1, maxLength: MAX_WORKER_NAME_LENGTH } as const;
  const caps = BUDGET_UNITS.map((unit) => [unit, { type: "number", exclusiveMinimum: 0 }] as const);
  return {
    type: "object",
    properties: {
      task: { type: "string", minLength: 1, maxLength: MAX_TASK_LENGTH },
      name: { ...name, description: "A short name, for people" },
      agent: { type: "string", enum: agents, description: `default: ${agents[0] ?? ""}` },
      mode: { ...name, description: "The kind of work, for people" },
      background: { type: "boolean", description: "default: false" },
      retriggerable: { type: "boolean", description: "default: false" },
      budget: {
        type: "object",
        properties: Object.fromEntries(caps),
        additionalProperties: false,
        description: "The most that the worker may use",
      },
    },
    required: ["task"],
    additionalProperties: false,
  };
}

interface WorkerToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly check?: Tool["check"];
}

function createTool({ name, description, schema, check }: WorkerToolDefinition): Tool {
  const tool = defineTool({
    name,
    description,
    input: schema,
    idempotent: true,
    timeoutMs: 1000,
    run() {
      const message = `The session performs calls of ${name}; the tool does not run`;
      throw new SpanlineError("invalid_tool", message);
    },
  });
  // Starts no effect of its own: a worker has the session mode of its parent, and asks like its parent.
  const traits = { kind: "think", sideEffect: "none", executor: { type: "builtin" } } as const;
  return {
    ...tool,
    spec: { ...tool.spec, traits },
    check: (input) => tool.check(input) ?? check?.(input),
  };
}
