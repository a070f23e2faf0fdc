import { SpanlineError } from "../domain/errors.ts";
import { isObject, parseJson } from "../data/json.ts";
import type { Environment } from "../platform/environment.ts";
import {
  convertUserInput,
  type ChatCompletionInput,
  type InputOptions,
} from "../wire/aigo/model-input.ts";
import { convertModelOutput } from "../wire/aigo/model-output.ts";
import { providerFromEnvironment } from "./provider-from-environment.ts";
import { queryModel, type QueryOptions } from "./query-model.ts";

export type InferenceOptions = QueryOptions & Pick<InputOptions, "history">;

/** Runs one turn, from the JSON text of an AI GO! request to the JSON text of its response. */
export async function runInference(
  body: string,
  environment: Environment,
  options: InferenceOptions = {},
): Promise<string> {
  const data = readInferenceBody(body);
  const provider = options.provider ?? providerFromEnvironment(environment, options);
  const { keepsHistory = true } = provider;
  const input = convertUserInput(data, { ...options, keepsHistory });
  const raw = await queryModel(input, environment, { ...options, provider });
  return JSON.stringify(convertModelOutput(raw));
}

/** Parses the body. The first stage validates its messages. */
export function readInferenceBody(body: string): ChatCompletionInput {
  if (body.length > MAX_CHARACTERS)
    throw createBodyError(`It has more than ${MAX_CHARACTERS} characters`);
  const parsed = parseJson(body);
  if (!parsed.ok) throw createBodyError(`It is not valid JSON: ${parsed.reason}`);
  const { value } = parsed;
  if (isObject(value) && Array.isArray(value["messages"])) {
    return { ...value, messages: value["messages"] };
  }
  throw createBodyError('It is not an object with "messages"');
}

const MAX_CHARACTERS = 32 * 1024 * 1024;

function createBodyError(reason: string): SpanlineError {
  return new SpanlineError("invalid_message", `The body cannot be used. ${reason}`, {
    details: { param: "body", code: "invalid_json" },
  });
}
