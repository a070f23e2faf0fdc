import { parseArn } from "../aws/arn.ts";
import { createCredentialChain, cacheCredentials } from "../aws/credentials.ts";
import { createSigner, type Authorize } from "../aws/signer.ts";
import { SpanlineError } from "../domain/errors.ts";
import { systemClock } from "../platform/clock.ts";
import { createBearerAuth } from "../remote/bearer-auth.ts";
import { checkApiKey } from "./api-url.ts";
import { anthropic } from "./anthropic.ts";
import { bedrock, BEDROCK_SERVICE } from "./bedrock.ts";
import type { Model, ModelSettings } from "./model.ts";
import { openAiCompatible } from "./openai-compatible.ts";
import type { Environment } from "../platform/environment.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export type { Environment };

export interface NamedModelSettings extends ModelSettings {
  /** Address of the model's server, such as `http://127.0.0.1:8000/v1`. Default: the environment's, then the vendor's. */
  readonly baseUrl?: string;
}

/** Finds a model by a name such as `ollama:qwen3`, with keys and addresses from the environment. Nothing is sent yet. */
export function modelFromName(
  name: string,
  env: Environment,
  { baseUrl, ...settings }: NamedModelSettings = {},
): Model {
  const colonIndex = name.indexOf(":");
  const createModel = SOURCES.get(name.slice(0, Math.max(0, colonIndex)));
  const model = name.slice(colonIndex + 1);
  if (createModel !== undefined && model !== "") {
    return createModel({ name, model, env, settings, baseUrl });
  }
  const knownNames = [...SOURCES.keys()].map((source) => `${source}:<model>`).join(", ");
  const message = `"${name}" names no model; use one of ${knownNames}`;
  throw new SpanlineError("invalid_option", message, { details: { path: "model" } });
}

interface ModelReference {
  readonly name: string;
  readonly model: string;
  readonly env: Environment;
  readonly settings: ModelSettings;
  readonly baseUrl: string | undefined;
}

const SOURCES: ReadonlyMap<string, (reference: ModelReference) => Model> = new Map([
  ["ollama", createOllamaModel],
  ["openai", createOpenAiModel],
  ["anthropic", createAnthropicModel],
  ["bedrock", createBedrockModel],
]);

function createOllamaModel(reference: ModelReference): Model {
  const { name, model, settings, baseUrl = OLLAMA_URL } = reference;
  const connectHint = "Is Ollama running? Start it with `ollama serve`";
  return openAiCompatible({ ...settings, name, model, baseUrl, connectHint });
}

const OLLAMA_URL = "http://127.0.0.1:11434/v1";

/** Only OpenAI itself requires a key: vLLM, llama.cpp and LM Studio run without one by default. */
function createOpenAiModel(reference: ModelReference): Model {
  const { name, model, env, settings } = reference;
  const baseUrl = reference.baseUrl ?? (env["OPENAI_BASE_URL"]?.trim() || undefined);
  const isCustomServer = baseUrl !== undefined && !baseUrl.startsWith("https://api.openai.com");
  const key = isCustomServer
    ? env["OPENAI_API_KEY"] || undefined
    : readApiKey(env, "OPENAI_API_KEY", name, OWN_SERVER_HINT);
  return openAiCompatible({
    ...settings,
    name,
    model,
    baseUrl: baseUrl ?? "https://api.openai.com/v1",
    ...omitUndefined({ key }),
  });
}

const OWN_SERVER_HINT =
  "For your own server set baseUrl or OPENAI_BASE_URL; it needs a key only if it checks one. ";

function createAnthropicModel(reference: ModelReference): Model {
  const { name, model, env, settings } = reference;
  const baseUrl = reference.baseUrl ?? (env["ANTHROPIC_BASE_URL"]?.trim() || undefined);
  const key = readApiKey(env, "ANTHROPIC_API_KEY", name);
  return anthropic({ ...settings, name, model, key, ...omitUndefined({ baseUrl }) });
}

/** A key of Bedrock's own goes before the standard chain, as it does in the AWS SDK. */
function createBedrockModel({ name, model, env, settings, baseUrl }: ModelReference): Model {
  const region = parseArn(model)?.region || env["AWS_REGION"] || env["AWS_DEFAULT_REGION"];
  if (region === undefined || region === "") {
    const message = `${name} needs a region; set AWS_REGION, such as us-east-1`;
    throw new SpanlineError("invalid_option", message, { details: { path: "AWS_REGION" } });
  }
  const endpoint = baseUrl ?? (env["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] || undefined);
  const token = env["AWS_BEARER_TOKEN_BEDROCK"] || undefined;
  const key = token === undefined ? undefined : checkApiKey(token, "AWS_BEARER_TOKEN_BEDROCK");
  return bedrock({
    ...settings,
    name,
    model,
    region,
    authorize:
      key === undefined
        ? createChainSigner(region, settings)
        : createBearerAuth(() => Promise.resolve(key)),
    ...(key !== undefined && { secrets: [key] }),
    ...omitUndefined({ endpoint }),
  });
}

function createChainSigner(region: string, { clock = systemClock }: ModelSettings): Authorize {
  const credentials = cacheCredentials(createCredentialChain(), clock);
  return createSigner({ credentials, region, service: BEDROCK_SERVICE });
}

function readApiKey(env: Environment, variable: string, name: string, hint = ""): string {
  const key = env[variable];
  if (key !== undefined && key.trim() !== "") return checkApiKey(key, variable);
  const message = `${name} needs a key; set ${variable} to yours. ${hint}Nothing was sent`;
  throw new SpanlineError("no_credentials", message, { details: { path: variable } });
}
