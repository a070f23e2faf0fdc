import type { JsonObject, JsonValue } from "../../data/json.ts";
import { isObject } from "../../data/json.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import {
  selectCurrentVersion,
  computeEndpointStatus,
  computeHarnessStatus,
  selectLiveVersion,
  computeVersionStatus,
  type Harness,
  type HarnessEndpoint,
  type HarnessVersion,
  type ResourceStatus,
} from "./harness-state.ts";
import {
  formatEndpointArn,
  formatHarnessArn,
  formatManagedMemoryArn,
  formatRuntimeNames,
  type AccountLocation,
} from "./resource-names.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Encodes a harness for GetHarness. An explicit `version` is shown with its own configuration and status. */
export function encodeHarness(
  location: AccountLocation,
  harness: Harness,
  { now, version }: { readonly now: number; readonly version?: HarnessVersion | undefined },
): JsonObject {
  const shownVersion = version ?? selectCurrentVersion(harness, now);
  const resourceStatus =
    version === undefined ? computeHarnessStatus(harness, now) : computeVersionStatus(version, now);
  const { configuration } = shownVersion;
  return {
    // Optional members are returned as sent; required members have the defaults of the service.
    ...configuration,
    ...encodeSummaryMembers(location, harness, resourceStatus),
    harnessVersion: String(shownVersion.number),
    model: configuration.model ?? DEFAULT_MODEL,
    systemPrompt: configuration.systemPrompt ?? [],
    tools: configuration.tools ?? [],
    skills: configuration.skills ?? [],
    allowedTools: configuration.allowedTools ?? ["*"],
    truncation: configuration.truncation ?? DEFAULT_TRUNCATION,
    environment: encodeEnvironment(location, harness.id, configuration.environment),
    ...encodeMemory(location, harness.id, configuration.memory),
    ...encodeFailure(resourceStatus),
  };
}

export function encodeHarnessSummary(
  location: AccountLocation,
  harness: Harness,
  now: number,
): JsonObject {
  return {
    ...encodeSummaryMembers(location, harness, computeHarnessStatus(harness, now)),
    harnessVersion: String(selectCurrentVersion(harness, now).number),
  };
}

export function encodeVersionSummary(
  location: AccountLocation,
  harness: Harness,
  { now, version }: { readonly now: number; readonly version: HarnessVersion },
): JsonObject {
  const resourceStatus = computeVersionStatus(version, now);
  return {
    ...encodeSummaryMembers(location, harness, resourceStatus),
    createdAt: formatIsoTime(version.change.startedAt),
    harnessVersion: String(version.number),
    ...encodeFailure(resourceStatus),
  };
}

export function encodeEndpoint(
  location: AccountLocation,
  harness: Harness,
  { now, endpoint }: { readonly now: number; readonly endpoint: HarnessEndpoint },
): JsonObject {
  const resourceStatus = computeEndpointStatus(endpoint, now);
  const live = selectLiveVersion(endpoint, now);
  const target = endpoint.moves.at(-1)?.version;
  return {
    harnessId: harness.id,
    harnessName: harness.name,
    endpointName: endpoint.name,
    arn: formatEndpointArn(location, harness.id, endpoint.name),
    status: resourceStatus.status,
    createdAt: formatIsoTime(endpoint.createdAt),
    updatedAt: formatIsoTime(resourceStatus.updatedAt),
    ...(live !== undefined && { liveVersion: String(live) }),
    ...(target !== undefined && { targetVersion: String(target) }),
    ...omitUndefined({ description: endpoint.description }),
    ...encodeFailure(resourceStatus),
  };
}

function encodeSummaryMembers(
  location: AccountLocation,
  harness: Harness,
  { status, updatedAt }: ResourceStatus,
) {
  return {
    harnessId: harness.id,
    harnessName: harness.name,
    arn: formatHarnessArn(location, harness.id),
    status,
    createdAt: formatIsoTime(harness.createdAt),
    updatedAt: formatIsoTime(updatedAt),
  };
}

function encodeFailure({ failureReason }: ResourceStatus): { readonly failureReason?: string } {
  return failureReason === undefined ? {} : { failureReason };
}

export const DEFAULT_MODEL: JsonObject = {
  bedrockModelConfig: { modelId: "global.anthropic.claude-sonnet-4-6" },
};

const DEFAULT_TRUNCATION: JsonObject = { strategy: "sliding_window" };

export const DEFAULT_LIFECYCLE = { idleRuntimeSessionTimeout: 900, maxLifetime: 28_800 };

/** The requested environment with the names of the runtime created by the service. */
function encodeEnvironment(
  location: AccountLocation,
  harnessId: string,
  environment: JsonObject | undefined,
): JsonObject {
  const requested = readObjectMember(environment, "agentCoreRuntimeEnvironment");
  const { runtimeArn, runtimeName, runtimeId } = formatRuntimeNames(location, harnessId);
  return {
    agentCoreRuntimeEnvironment: {
      networkConfiguration: { networkMode: "PUBLIC" },
      ...requested,
      lifecycleConfiguration: {
        ...DEFAULT_LIFECYCLE,
        ...readObjectMember(requested, "lifecycleConfiguration"),
      },
      agentRuntimeArn: runtimeArn,
      agentRuntimeName: runtimeName,
      agentRuntimeId: runtimeId,
    },
  };
}

/** A managed memory has an ARN as soon as it is requested. */
function encodeMemory(
  location: AccountLocation,
  harnessId: string,
  memory: JsonObject | undefined,
): { readonly memory?: JsonObject } {
  if (memory === undefined || !("managedMemoryConfiguration" in memory)) return {};
  const managed = readObjectMember(memory, "managedMemoryConfiguration");
  const arn = formatManagedMemoryArn(location, harnessId);
  return {
    memory: { managedMemoryConfiguration: { eventExpiryDuration: 30, ...managed, arn } },
  };
}

export function readObjectMember(value: JsonValue | undefined, name: string): JsonObject {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}
