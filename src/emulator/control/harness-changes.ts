import { ServiceError } from "../service/service-types.ts";
import { applyPatch, type Configuration, type ConfigurationPatch } from "./configuration.ts";
import type { Delays } from "./delays.ts";
import {
  selectCurrentVersion,
  computeEndpointStatus,
  DELETED,
  computeHarnessStatus,
  selectNewest,
  SUCCESS,
  type Change,
  type Harness,
  type HarnessEndpoint,
  type HarnessVersion,
  type Outcome,
  type Tags,
} from "./harness-state.ts";
import type { ChangeKind } from "./injected-outcomes.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The inputs of a change apart from the state. */
export interface ChangeContext {
  readonly now: number;
  readonly delays: Delays;
  /** Returns the injected result of a change, if any. */
  readonly takeInjected: (harnessName: string, kind: ChangeKind) => Outcome | undefined;
}

export const DEFAULT_ENDPOINT = "DEFAULT";
const MAX_ENDPOINTS = 10;
export const MAX_VERSIONS = 1000;

export interface NewHarness {
  readonly id: string;
  readonly name: string;
  readonly configuration: Configuration;
  readonly tags: Tags;
}

export function createHarnessState(input: NewHarness, context: ChangeContext): Harness {
  const { now, delays } = context;
  const outcome = context.takeInjected(input.name, "create") ?? SUCCESS;
  const change = { startedAt: now, dueAt: now + delays.create, outcome };
  return {
    id: input.id,
    name: input.name,
    createdAt: now,
    visibleAt: now + delays.visible,
    tags: input.tags,
    versions: [{ number: 1, configuration: input.configuration, change }],
    endpoints: [
      {
        name: DEFAULT_ENDPOINT,
        createdAt: now,
        visibleAt: now + Math.max(delays.visible, delays.endpointVisible),
        tags: {},
        moves: [{ version: 1, change: deriveEndpointChange(change, input.name, context) }],
      },
    ],
  };
}

export function updateHarnessState(
  harness: Harness,
  patch: ConfigurationPatch,
  context: ChangeContext,
): Harness {
  const { now, delays } = context;
  refuseWhile(harness, ["CREATING", "UPDATING", "DELETING", "CREATE_FAILED", "DELETE_FAILED"], now);
  if (harness.versions.length >= MAX_VERSIONS)
    throw createQuotaError(harness, MAX_VERSIONS, "versions");
  const number = selectNewest(harness.versions).number + 1;
  const outcome = context.takeInjected(harness.name, "update") ?? SUCCESS;
  const version: HarnessVersion = {
    number,
    configuration: applyPatch(selectCurrentVersion(harness, now).configuration, patch),
    change: { startedAt: now, dueAt: now + delays.update, outcome },
  };
  const follow = (endpoint: HarnessEndpoint): HarnessEndpoint => {
    const follows = endpoint.name === DEFAULT_ENDPOINT && outcome.status === SUCCESS.status;
    if (!follows) return endpoint;
    const change = deriveEndpointChange(version.change, harness.name, context);
    return { ...endpoint, moves: [...endpoint.moves, { version: number, change }] };
  };
  return {
    ...harness,
    versions: [...harness.versions, version],
    endpoints: harness.endpoints.map(follow),
  };
}

/** Deletes a harness together with its endpoints. */
export function deleteHarnessState(
  harness: Harness,
  context: ChangeContext & { readonly whileCreating: boolean },
): Harness {
  const { now, delays } = context;
  const busy = ["UPDATING", "DELETING", ...(context.whileCreating ? [] : ["CREATING"])];
  refuseWhile(harness, busy, now);
  const outcome = context.takeInjected(harness.name, "delete") ?? DELETED;
  const deletion = { startedAt: now, dueAt: now + delays.delete, outcome };
  const endpoints = harness.endpoints.map((endpoint) =>
    outcome.status === DELETED.status ? { ...endpoint, deletion } : endpoint,
  );
  return { ...harness, deletion, endpoints };
}

export interface NewEndpoint {
  readonly name: string;
  readonly version?: number | undefined;
  readonly description?: string | undefined;
  readonly tags: Tags;
}

export function addEndpoint(harness: Harness, input: NewEndpoint, context: ChangeContext): Harness {
  const { now } = context;
  refuseWhile(harness, ["CREATING", "DELETING"], now);
  if (harness.endpoints.some(({ name }) => name === input.name)) {
    throw createConflictError(`Endpoint ${input.name} of harness ${harness.id} already exists`);
  }
  if (harness.endpoints.length >= MAX_ENDPOINTS)
    throw createQuotaError(harness, MAX_ENDPOINTS, "endpoints");
  const version = input.version ?? selectCurrentVersion(harness, now).number;
  const endpoint: HarnessEndpoint = {
    name: input.name,
    createdAt: now,
    visibleAt: now,
    ...omitUndefined({ description: input.description }),
    tags: input.tags,
    moves: [
      { version: checkVersion(harness, version), change: startEndpointChange(harness, context) },
    ],
  };
  return { ...harness, endpoints: [...harness.endpoints, endpoint] };
}

export interface EndpointPatch {
  readonly version?: number | undefined;
  readonly description?: string | undefined;
}

export function moveEndpoint(
  harness: Harness,
  name: string,
  { patch, context }: { readonly patch: EndpointPatch; readonly context: ChangeContext },
): Harness {
  return replaceEndpoint(harness, name, (endpoint) => {
    refuseEndpointWhile(endpoint, ["CREATING", "UPDATING", "DELETING"], context.now);
    const version = patch.version ?? endpoint.moves.at(-1)?.version ?? 1;
    const move = {
      version: checkVersion(harness, version),
      change: startEndpointChange(harness, context),
    };
    return {
      ...endpoint,
      ...omitUndefined({ description: patch.description }),
      moves: [...endpoint.moves, move],
    };
  });
}

export function removeEndpoint(harness: Harness, name: string, context: ChangeContext): Harness {
  return replaceEndpoint(harness, name, (endpoint) => {
    refuseEndpointWhile(endpoint, ["CREATING", "UPDATING", "DELETING"], context.now);
    const { startedAt, dueAt, outcome } = startEndpointChange(harness, context);
    const isSuccess = outcome.status === SUCCESS.status;
    return { ...endpoint, deletion: { startedAt, dueAt, outcome: isSuccess ? DELETED : outcome } };
  });
}

function replaceEndpoint(
  harness: Harness,
  name: string,
  change: (endpoint: HarnessEndpoint) => HarnessEndpoint,
): Harness {
  return {
    ...harness,
    endpoints: harness.endpoints.map((endpoint) =>
      endpoint.name === name ? change(endpoint) : endpoint,
    ),
  };
}

/** An endpoint becomes ready after its version, and fails if its version fails. */
function deriveEndpointChange(change: Change, harnessName: string, context: ChangeContext): Change {
  if (change.outcome.status !== SUCCESS.status) {
    const outcome = { status: "CREATE_FAILED", failureReason: "The harness failed" };
    return { ...change, outcome };
  }
  return {
    startedAt: change.startedAt,
    dueAt: change.dueAt + context.delays.endpoint,
    outcome: context.takeInjected(harnessName, "endpoint") ?? SUCCESS,
  };
}

function startEndpointChange(
  { name }: Harness,
  { now, delays, takeInjected }: ChangeContext,
): Change {
  const outcome = takeInjected(name, "endpoint") ?? SUCCESS;
  return { startedAt: now, dueAt: now + delays.endpoint, outcome };
}

function checkVersion(harness: Harness, version: number): number {
  if (harness.versions.some(({ number }) => number === version)) return version;
  throw createNotFoundError(`Version ${version} of harness ${harness.id} does not exist`);
}

function refuseWhile(harness: Harness, busy: readonly string[], now: number): void {
  const { status } = computeHarnessStatus(harness, now);
  if (busy.includes(status))
    throw createConflictError(`Harness ${harness.id} is in ${status} state`);
}

function refuseEndpointWhile(
  endpoint: HarnessEndpoint,
  busy: readonly string[],
  now: number,
): void {
  const { status } = computeEndpointStatus(endpoint, now);
  if (busy.includes(status))
    throw createConflictError(`Endpoint ${endpoint.name} is in ${status} state`);
}

function createQuotaError({ id }: Harness, limit: number, resourceName: string): ServiceError {
  const message = `Harness ${id} has ${limit} ${resourceName}, which is the limit`;
  return new ServiceError(402, "ServiceQuotaExceededException", message);
}

export function createConflictError(message: string): ServiceError {
  return new ServiceError(409, "ConflictException", message);
}

export function createNotFoundError(message: string): ServiceError {
  return new ServiceError(404, "ResourceNotFoundException", message);
}
