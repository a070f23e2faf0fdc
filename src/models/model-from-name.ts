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
import { suggestFix } from "../text/unknown-name.ts";

export type { Environment };

export interface NamedModelSettings extends ModelSettings {
  /**
   * The URL of the model's server, such as `http://127.0.0.1:8000/v1`. Default: the environment, then the vendor's URL.
   */
  readonly baseUrl?: string;
}

/**
 * Creates a model from a name such as `ollama:qwen3`, with keys and URLs from the environment. Sends no request yet.
 */
export function modelFromName(
  name: string,
  env: Environment,
  { baseUrl, ...settings }: NamedModelSettings = {},
): Model {
  const colonIndex = name.indexOf(":");
  const source = name.slice(0, Math.max(0, colonIndex));
  const createModel = SOURCES.get(source);
  const model = name.slice(colonIndex + 1);
  if (createModel !== undefined && model !== "") {
    return createModel({ name, model, env, settings, baseUrl });
  }
  const sources = [...SOURCES.keys()];
  const knownNames = sources.map((known) => `${known}:<model>`).join(", ");
  const suggestion = createModel === undefined ? suggestFix(source, sources) : undefined;
  const fix = suggestion === undefined ? "" : `. Fix: ${suggestion}`;
  const message = `"${name}" is not a valid model: expected ${knownNames}${fix}`;
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

/** Only OpenAI itself requires a key: vLLM, llama.cpp and LM Studio run without a key by default. */
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
  "For your own server set baseUrl or OPENAI_BASE_URL; a key is then optional. ";

function createAnthropicModel(reference: ModelReference): Model {
  const { name, model, env, settings } = reference;
  const baseUrl = reference.baseUrl ?? (env["ANTHROPIC_BASE_URL"]?.trim() || undefined);
  const key = readApiKey(env, "ANTHROPIC_API_KEY", name);
  return anthropic({ ...settings, name, model, key, ...omitUndefined({ baseUrl }) });
}

/** A Bedrock API key takes precedence over the credential chain, like in the AWS SDK. */
function createBedrockModel({ name, model, env, settings, baseUrl }: ModelReference): Model {
  const region = parseArn(model)?.region || env["AWS_REGION"] || env["AWS_DEFAULT_REGION"];
  if (region === undefined || region === "") {
    const message = `${name} needs a region. Fix: set AWS_REGION, for example to us-east-1`;
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
  const message = `${name} needs a key. Fix: set ${variable}. ${hint}No request was sent`;
  throw new SpanlineError("no_credentials", message, { details: { path: variable } });
}
