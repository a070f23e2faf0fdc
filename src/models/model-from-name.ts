import { parseArn } from "../aws/arn.ts";
import { chainedCredentials, keptCredentials } from "../aws/credentials.ts";
import { signedBy, type Authorize } from "../aws/sign.ts";
import { SpanlineError } from "../domain/errors.ts";
import { systemClock } from "../platform/clock.ts";
import { bearing } from "../remote/bearing.ts";
import { checkedKey } from "./address.ts";
import { anthropic } from "./anthropic.ts";
import { bedrock, BEDROCK_SERVICE } from "./bedrock.ts";
import type { Model, ModelSettings } from "./model.ts";
import { openAiCompatible } from "./openai-compatible.ts";
import type { Environment } from "../platform/environment.ts";

export type { Environment };

/** Finds a model by a name such as `ollama:qwen3`, with keys and addresses from the environment. Nothing is sent yet. */
export function modelFromName(name: string, env: Environment, settings: ModelSettings = {}): Model {
  const at = name.indexOf(":");
  const make = SOURCES.get(name.slice(0, Math.max(0, at)));
  const model = name.slice(at + 1);
  if (make !== undefined && model !== "") return make({ name, model, env, settings });
  const known = [...SOURCES.keys()].map((source) => `${source}:<model>`).join(", ");
  const message = `"${name}" names no model; use one of ${known}`;
  throw new SpanlineError("invalid_option", message, { details: { path: "model" } });
}

interface Wanted {
  readonly name: string;
  readonly model: string;
  readonly env: Environment;
  readonly settings: ModelSettings;
}

const SOURCES: ReadonlyMap<string, (wanted: Wanted) => Model> = new Map([
  ["ollama", ollama],
  ["openai", openai],
  ["anthropic", anthropicModel],
  ["bedrock", bedrockModel],
]);

function ollama({ name, model, settings }: Wanted): Model {
  const connectHint = "Is Ollama running? Start it with `ollama serve`";
  return openAiCompatible({ ...settings, name, model, baseUrl: OLLAMA, connectHint });
}

const OLLAMA = "http://127.0.0.1:11434/v1";

/** Only OpenAI itself is known to want a key; a server of one's own often has none. */
function openai({ name, model, env, settings }: Wanted): Model {
  const baseUrl = env["OPENAI_BASE_URL"]?.trim() || undefined;
  const isOwn = baseUrl !== undefined && !baseUrl.startsWith("https://api.openai.com");
  const key = isOwn ? env["OPENAI_API_KEY"] || undefined : keyFrom(env, "OPENAI_API_KEY", name);
  return openAiCompatible({
    ...settings,
    name,
    model,
    baseUrl: baseUrl ?? "https://api.openai.com/v1",
    ...(key !== undefined && { key }),
  });
}

function anthropicModel({ name, model, env, settings }: Wanted): Model {
  const baseUrl = env["ANTHROPIC_BASE_URL"]?.trim() || undefined;
  const key = keyFrom(env, "ANTHROPIC_API_KEY", name);
  return anthropic({ ...settings, name, model, key, ...(baseUrl !== undefined && { baseUrl }) });
}

/** A key of Bedrock's own goes before the standard chain, as it does in the AWS SDK. */
function bedrockModel({ name, model, env, settings }: Wanted): Model {
  const region = parseArn(model)?.region || env["AWS_REGION"] || env["AWS_DEFAULT_REGION"];
  if (region === undefined || region === "") {
    const message = `${name} needs a region; set AWS_REGION, such as us-east-1`;
    throw new SpanlineError("invalid_option", message, { details: { path: "AWS_REGION" } });
  }
  const endpoint = env["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] || undefined;
  const token = env["AWS_BEARER_TOKEN_BEDROCK"] || undefined;
  const key = token === undefined ? undefined : checkedKey(token, "AWS_BEARER_TOKEN_BEDROCK");
  return bedrock({
    ...settings,
    name,
    model,
    region,
    authorize:
      key === undefined ? signedInChain(region, settings) : bearing(() => Promise.resolve(key)),
    ...(key !== undefined && { secrets: [key] }),
    ...(endpoint !== undefined && { endpoint }),
  });
}

function signedInChain(region: string, { clock = systemClock }: ModelSettings): Authorize {
  const credentials = keptCredentials(chainedCredentials(), clock);
  return signedBy({ credentials, region, service: BEDROCK_SERVICE });
}

function keyFrom(env: Environment, variable: string, name: string): string {
  const key = env[variable];
  if (key !== undefined && key.trim() !== "") return checkedKey(key, variable);
  const message = `${name} needs a key; set ${variable} to yours. Nothing was sent`;
  throw new SpanlineError("no_credentials", message, { details: { path: variable } });
}
