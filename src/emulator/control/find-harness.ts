import type { JsonValue } from "../../domain/json.ts";
import { DEFAULT_ENDPOINT } from "./changes.ts";
import {
  currentVersion,
  endpointStanding,
  harnessStanding,
  liveVersion,
  type Harness,
} from "./harness-state.ts";
import { harnessArn, type Place } from "./names.ts";
import type { HarnessRecord } from "./registry.ts";
import { DEFAULT_LIFECYCLE, DEFAULT_MODEL, objectIn } from "./views.ts";

/** The configuration that an endpoint serves. Undefined when the harness has no endpoint of that name. */
export function harnessRecord(
  place: Place,
  harness: Harness,
  { now, qualifier }: { readonly now: number; readonly qualifier: string | undefined },
): HarnessRecord | undefined {
  const name = qualifier ?? DEFAULT_ENDPOINT;
  const endpoint = harness.endpoints.find((one) => one.name === name && now >= one.visibleAt);
  if (endpoint === undefined) return undefined;
  const number = liveVersion(endpoint, now) ?? endpoint.moves.at(-1)?.version;
  const served =
    harness.versions.find((version) => version.number === number) ?? currentVersion(harness, now);
  const { configuration } = served;
  const { environmentVariables = {} } = configuration;
  return {
    arn: harnessArn(place, harness.id),
    id: harness.id,
    name: harness.name,
    version: String(served.number),
    endpoint: name,
    status: harnessStanding(harness, now).status,
    endpointStatus: endpointStanding(endpoint, now).status,
    model: configuration.model ?? DEFAULT_MODEL,
    systemPrompt: configuration.systemPrompt ?? [],
    tools: configuration.tools ?? [],
    allowedTools: configuration.allowedTools ?? ["*"],
    skills: configuration.skills ?? [],
    maxIterations: configuration.maxIterations,
    maxTokens: configuration.maxTokens,
    timeoutSeconds: configuration.timeoutSeconds,
    memory: memoryOf(configuration.memory),
    environmentVariables,
    tags: harness.tags,
    lifecycle: lifecycleOf(configuration.environment),
    brain: environmentVariables[BRAIN] ?? harness.tags[BRAIN],
  };
}

const BRAIN = "SPANLINE_BRAIN";

function memoryOf(memory: JsonValue | undefined): JsonValue {
  if (memory === undefined || memory === null) return null;
  return typeof memory === "object" && "disabled" in memory ? null : memory;
}

function lifecycleOf(environment: JsonValue | undefined) {
  const asked = objectIn(
    objectIn(environment, "agentCoreRuntimeEnvironment"),
    "lifecycleConfiguration",
  );
  const { idleRuntimeSessionTimeout: idle, maxLifetime: lifetime } = asked;
  return {
    idleSeconds: typeof idle === "number" ? idle : DEFAULT_LIFECYCLE.idleRuntimeSessionTimeout,
    lifetimeSeconds: typeof lifetime === "number" ? lifetime : DEFAULT_LIFECYCLE.maxLifetime,
  };
}
