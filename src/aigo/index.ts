// The public entry `spanline/aigo`: an agent as a model of AI GO!, stage by stage or as a whole. Every export here is
// public API.

export type { AigoMessage, AigoOutput, AigoTraceItem } from "../wire/aigo/aigo-output.ts";
export {
  convertUserInput,
  type ChatCompletionInput,
  type ChatCompletionMessage,
  type InputOptions,
  type ModelInput,
} from "../wire/aigo/model-input.ts";
export { convertModelOutput, type RawModelOutput } from "../wire/aigo/model-output.ts";
export { providerFromEnvironment, type EnvironmentOptions } from "./provider-from-environment.ts";
export { queryModel, type QueryOptions } from "./query-model.ts";
export { runInference, type InferenceOptions } from "./run-inference.ts";
