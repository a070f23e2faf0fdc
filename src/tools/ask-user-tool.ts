import type { JsonObject } from "../data/json.ts";
import { SpanlineError } from "../domain/errors.ts";
import {
  ASK_USER_TOOL,
  MAX_APPROVERS,
  MAX_CHOICE_LENGTH,
  MAX_CHOICES,
  MAX_QUESTION_LENGTH,
  QUESTION_KINDS,
  readQuestion,
} from "../domain/question.ts";
import { defineTool } from "./define-tool.ts";
import type { Tool } from "./tool.ts";

/**
 * The tool with which an agent asks a person. The session answers its calls (`session/tools/questions.ts`), so that an
 * open question survives restarts; `run` is never called.
 */
export function createAskUserTool(): Tool {
  const tool = defineTool({
    name: ASK_USER_TOOL,
    description:
      "Asks a person and waits for the answer, which is the result. Use it if you need a decision or information that only a person has. " +
      "A question has free text as its answer, or one of `options`, or an object by `schema`. " +
      "An approval needs the consent of one person, dual_control of several people. An escalation waits until a person accepts.",
    input: ASK_USER_SCHEMA,
    idempotent: true,
    timeoutMs: 1000,
    run() {
      throw new SpanlineError(
        "invalid_tool",
        `The session answers calls of ${ASK_USER_TOOL}; the tool does not run`,
      );
    },
  });
  const traits = { kind: "other", sideEffect: "none", executor: { type: "builtin" } } as const;
  return {
    ...tool,
    spec: { ...tool.spec, traits },
    check(input) {
      const problem = tool.check(input);
      if (problem !== undefined) return problem;
      const request = readQuestion(input);
      return typeof request === "string" ? request : undefined;
    },
  };
}

const ASK_USER_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    question: { type: "string", minLength: 1, maxLength: MAX_QUESTION_LENGTH },
    kind: { type: "string", enum: [...QUESTION_KINDS], description: "default: question" },
    options: {
      type: "array",
      minItems: 2,
      maxItems: MAX_CHOICES,
      items: { type: "string", minLength: 1, maxLength: MAX_CHOICE_LENGTH },
      description: "The possible answers",
    },
    schema: {
      type: "object",
      description:
        "A JSON schema of the answer: an object whose properties are strings, numbers, integers, booleans or arrays of choices",
    },
    default: { description: "The answer to use if no person answers in time" },
    approvers: {
      type: "integer",
      minimum: 1,
      maximum: MAX_APPROVERS,
      description: "Number of people who must give the same answer; default: 1, for dual_control 2",
    },
    timeout_seconds: { type: "number", minimum: 1, description: "default: 1 day" },
  },
  required: ["question"],
  additionalProperties: false,
};
