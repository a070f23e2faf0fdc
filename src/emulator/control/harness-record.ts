import type { JsonValue } from "../../data/json.ts";
import { DEFAULT_ENDPOINT } from "./harness-changes.ts";
import {
  selectCurrentVersion,
  computeEndpointStatus,
  computeHarnessStatus,
  selectLiveVersion,
  type Harness,
} from "./harness-state.ts";
import { formatHarnessArn, type AccountLocation } from "./resource-names.ts";
import type { HarnessRecord } from "./harness-registry.ts";
import { DEFAULT_LIFECYCLE, DEFAULT_MODEL, readObjectMember } from "./encode-resources.ts";

/** The configuration served by an endpoint. Undefined if the harness has no endpoint with this name. */
export function createHarnessRecord(
  place: AccountLocation,
  harness: Harness,
  { now, qualifier }: { readonly now: number; readonly qualifier: string | undefined },
): HarnessRecord | undefined {
  const name = qualifier ?? DEFAULT_ENDPOINT;
  const endpoint = harness.endpoints.find(
    (candidate) => candidate.name === name && now >= candidate.visibleAt,
  );
  if (endpoint === undefined) return undefined;
  const number = selectLiveVersion(endpoint, now) ?? endpoint.moves.at(-1)?.version;
  const servedVersion =
    harness.versions.find((version) => version.number === number) ??
    selectCurrentVersion(harness, now);
  const { configuration } = servedVersion;
  const { environmentVariables = {} } = configuration;
  return {
    arn: formatHarnessArn(place, harness.id),
    id: harness.id,
    name: harness.name,
    version: String(servedVersion.number),
    endpoint: name,
    status: computeHarnessStatus(harness, now).status,
    endpointStatus: computeEndpointStatus(endpoint, now).status,
    model: configuration.model ?? DEFAULT_MODEL,
    systemPrompt: configuration.systemPrompt ?? [],
    tools: configuration.tools ?? [],
    allowedTools: configuration.allowedTools ?? ["*"],
    skills: configuration.skills ?? [],
    maxIterations: configuration.maxIterations,
    maxTokens: configuration.maxTokens,
    timeoutSeconds: configuration.timeoutSeconds,
    memory: readMemory(configuration.memory),
    environmentVariables,
    tags: harness.tags,
    lifecycle: readLifecycle(configuration.environment),
    brain: environmentVariables[BRAIN_VARIABLE] ?? harness.tags[BRAIN_VARIABLE],
  };
}

const BRAIN_VARIABLE = "SPANLINE_BRAIN";

function readMemory(memory: JsonValue | undefined): JsonValue {
  if (memory === undefined || memory === null) return null;
  return typeof memory === "object" && "disabled" in memory ? null : memory;
}

function readLifecycle(environment: JsonValue | undefined) {
  const requested = readObjectMember(
    readObjectMember(environment, "agentCoreRuntimeEnvironment"),
    "lifecycleConfiguration",
  );
  const { idleRuntimeSessionTimeout: idle, maxLifetime: lifetime } = requested;
  return {
    idleSeconds: typeof idle === "number" ? idle : DEFAULT_LIFECYCLE.idleRuntimeSessionTimeout,
    lifetimeSeconds: typeof lifetime === "number" ? lifetime : DEFAULT_LIFECYCLE.maxLifetime,
  };
}
