import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isObject } from "../../domain/json.ts";
import { isoTime } from "../../domain/iso-time.ts";
import {
  currentVersion,
  endpointStanding,
  harnessStanding,
  liveVersion,
  versionStanding,
  type Harness,
  type HarnessEndpoint,
  type HarnessVersion,
  type Standing,
} from "./harness-state.ts";
import { endpointArn, harnessArn, managedMemoryArn, runtimeNames, type Place } from "./names.ts";

/** A harness as GetHarness shows it. A version beside the current one shows as it was, and with how it came out. */
export function harnessView(
  place: Place,
  harness: Harness,
  { now, version }: { readonly now: number; readonly version?: HarnessVersion | undefined },
): JsonObject {
  const shown = version ?? currentVersion(harness, now);
  const standing =
    version === undefined ? harnessStanding(harness, now) : versionStanding(version, now);
  const { configuration } = shown;
  return {
    // Members that are optional in the service's model come as they were given; the others have the service's defaults.
    ...configuration,
    ...summaryMembers(place, harness, standing),
    harnessVersion: String(shown.number),
    model: configuration.model ?? DEFAULT_MODEL,
    systemPrompt: configuration.systemPrompt ?? [],
    tools: configuration.tools ?? [],
    skills: configuration.skills ?? [],
    allowedTools: configuration.allowedTools ?? ["*"],
    truncation: configuration.truncation ?? DEFAULT_TRUNCATION,
    environment: environmentView(place, harness.id, configuration.environment),
    ...memoryView(place, harness.id, configuration.memory),
    ...failureMember(standing),
  };
}

export function harnessSummary(place: Place, harness: Harness, now: number): JsonObject {
  return {
    ...summaryMembers(place, harness, harnessStanding(harness, now)),
    harnessVersion: String(currentVersion(harness, now).number),
  };
}

export function versionSummary(
  place: Place,
  harness: Harness,
  { now, version }: { readonly now: number; readonly version: HarnessVersion },
): JsonObject {
  const standing = versionStanding(version, now);
  return {
    ...summaryMembers(place, harness, standing),
    createdAt: isoTime(version.change.startedAt),
    harnessVersion: String(version.number),
    ...failureMember(standing),
  };
}

export function endpointView(
  place: Place,
  harness: Harness,
  { now, endpoint }: { readonly now: number; readonly endpoint: HarnessEndpoint },
): JsonObject {
  const standing = endpointStanding(endpoint, now);
  const live = liveVersion(endpoint, now);
  const target = endpoint.moves.at(-1)?.version;
  return {
    harnessId: harness.id,
    harnessName: harness.name,
    endpointName: endpoint.name,
    arn: endpointArn(place, harness.id, endpoint.name),
    status: standing.status,
    createdAt: isoTime(endpoint.createdAt),
    updatedAt: isoTime(standing.updatedAt),
    ...(live !== undefined && { liveVersion: String(live) }),
    ...(target !== undefined && { targetVersion: String(target) }),
    ...(endpoint.description !== undefined && { description: endpoint.description }),
    ...failureMember(standing),
  };
}

function summaryMembers(place: Place, harness: Harness, { status, updatedAt }: Standing) {
  return {
    harnessId: harness.id,
    harnessName: harness.name,
    arn: harnessArn(place, harness.id),
    status,
    createdAt: isoTime(harness.createdAt),
    updatedAt: isoTime(updatedAt),
  };
}

function failureMember({ failureReason }: Standing): { readonly failureReason?: string } {
  return failureReason === undefined ? {} : { failureReason };
}

export const DEFAULT_MODEL: JsonObject = {
  bedrockModelConfig: { modelId: "global.anthropic.claude-sonnet-4-6" },
};

const DEFAULT_TRUNCATION: JsonObject = { strategy: "sliding_window" };

export const DEFAULT_LIFECYCLE = { idleRuntimeSessionTimeout: 900, maxLifetime: 28_800 };

/** What was asked for, with the names of the runtime that the service made for it. */
function environmentView(
  place: Place,
  harnessId: string,
  environment: JsonObject | undefined,
): JsonObject {
  const asked = objectIn(environment, "agentCoreRuntimeEnvironment");
  const { runtimeArn, runtimeName, runtimeId } = runtimeNames(place, harnessId);
  return {
    agentCoreRuntimeEnvironment: {
      networkConfiguration: { networkMode: "PUBLIC" },
      ...asked,
      lifecycleConfiguration: {
        ...DEFAULT_LIFECYCLE,
        ...objectIn(asked, "lifecycleConfiguration"),
      },
      agentRuntimeArn: runtimeArn,
      agentRuntimeName: runtimeName,
      agentRuntimeId: runtimeId,
    },
  };
}

/** A memory of the service's own has a name from the moment it is asked for. */
function memoryView(
  place: Place,
  harnessId: string,
  memory: JsonObject | undefined,
): { readonly memory?: JsonObject } {
  if (memory === undefined || !("managedMemoryConfiguration" in memory)) return {};
  const managed = objectIn(memory, "managedMemoryConfiguration");
  const arn = managedMemoryArn(place, harnessId);
  return {
    memory: { managedMemoryConfiguration: { eventExpiryDuration: 30, ...managed, arn } },
  };
}

export function objectIn(value: JsonValue | undefined, name: string): JsonObject {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}
