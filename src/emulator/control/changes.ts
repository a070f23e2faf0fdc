import { ServiceError } from "../exchange.ts";
import { patched, type Configuration, type ConfigurationPatch } from "./configuration.ts";
import type { Delays } from "./delays.ts";
import {
  currentVersion,
  endpointStanding,
  GONE,
  harnessStanding,
  newestOf,
  SUCCESS,
  type Change,
  type Harness,
  type HarnessEndpoint,
  type HarnessVersion,
  type Outcome,
  type Tags,
} from "./harness-state.ts";
import type { ChangeKind } from "./injected-outcomes.ts";

/** What a change depends on beside the state it changes. */
export interface ChangeContext {
  readonly now: number;
  readonly delays: Delays;
  /** What somebody has asked a change to come to. */
  readonly injected: (harnessName: string, kind: ChangeKind) => Outcome | undefined;
}

export const DEFAULT_ENDPOINT = "DEFAULT";
const MOST_ENDPOINTS = 10;
export const MOST_VERSIONS = 1000;

export interface NewHarness {
  readonly id: string;
  readonly name: string;
  readonly configuration: Configuration;
  readonly tags: Tags;
}

export function created(given: NewHarness, context: ChangeContext): Harness {
  const { now, delays } = context;
  const outcome = context.injected(given.name, "create") ?? SUCCESS;
  const change = { startedAt: now, dueAt: now + delays.create, outcome };
  return {
    id: given.id,
    name: given.name,
    createdAt: now,
    visibleAt: now + delays.visible,
    tags: given.tags,
    versions: [{ number: 1, configuration: given.configuration, change }],
    endpoints: [
      {
        name: DEFAULT_ENDPOINT,
        createdAt: now,
        visibleAt: now + Math.max(delays.visible, delays.endpointVisible),
        tags: {},
        moves: [{ version: 1, change: behind(change, given.name, context) }],
      },
    ],
  };
}

export function updated(
  harness: Harness,
  patch: ConfigurationPatch,
  context: ChangeContext,
): Harness {
  const { now, delays } = context;
  refuseWhile(harness, ["CREATING", "UPDATING", "DELETING", "CREATE_FAILED", "DELETE_FAILED"], now);
  if (harness.versions.length >= MOST_VERSIONS) throw full(harness, MOST_VERSIONS, "versions");
  const number = newestOf(harness.versions).number + 1;
  const outcome = context.injected(harness.name, "update") ?? SUCCESS;
  const version: HarnessVersion = {
    number,
    configuration: patched(currentVersion(harness, now).configuration, patch),
    change: { startedAt: now, dueAt: now + delays.update, outcome },
  };
  const follow = (endpoint: HarnessEndpoint): HarnessEndpoint => {
    const follows = endpoint.name === DEFAULT_ENDPOINT && outcome.status === SUCCESS.status;
    if (!follows) return endpoint;
    const change = behind(version.change, harness.name, context);
    return { ...endpoint, moves: [...endpoint.moves, { version: number, change }] };
  };
  return {
    ...harness,
    versions: [...harness.versions, version],
    endpoints: harness.endpoints.map(follow),
  };
}

/** The endpoints go with their harness. */
export function deleted(
  harness: Harness,
  context: ChangeContext & { readonly whileCreating: boolean },
): Harness {
  const { now, delays } = context;
  const busy = ["UPDATING", "DELETING", ...(context.whileCreating ? [] : ["CREATING"])];
  refuseWhile(harness, busy, now);
  const outcome = context.injected(harness.name, "delete") ?? GONE;
  const deletion = { startedAt: now, dueAt: now + delays.delete, outcome };
  const endpoints = harness.endpoints.map((endpoint) =>
    outcome.status === GONE.status ? { ...endpoint, deletion } : endpoint,
  );
  return { ...harness, deletion, endpoints };
}

export interface NewEndpoint {
  readonly name: string;
  readonly version?: number | undefined;
  readonly description?: string | undefined;
  readonly tags: Tags;
}

export function withEndpoint(
  harness: Harness,
  given: NewEndpoint,
  context: ChangeContext,
): Harness {
  const { now } = context;
  refuseWhile(harness, ["CREATING", "DELETING"], now);
  if (harness.endpoints.some(({ name }) => name === given.name)) {
    throw conflict(`Endpoint ${given.name} of harness ${harness.id} already exists`);
  }
  if (harness.endpoints.length >= MOST_ENDPOINTS) throw full(harness, MOST_ENDPOINTS, "endpoints");
  const version = given.version ?? currentVersion(harness, now).number;
  const endpoint: HarnessEndpoint = {
    name: given.name,
    createdAt: now,
    visibleAt: now,
    ...(given.description !== undefined && { description: given.description }),
    tags: given.tags,
    moves: [{ version: known(harness, version), change: endpointChange(harness, context) }],
  };
  return { ...harness, endpoints: [...harness.endpoints, endpoint] };
}

export interface EndpointPatch {
  readonly version?: number | undefined;
  readonly description?: string | undefined;
}

export function withMovedEndpoint(
  harness: Harness,
  name: string,
  { patch, context }: { readonly patch: EndpointPatch; readonly context: ChangeContext },
): Harness {
  return replaced(harness, name, (endpoint) => {
    refuseEndpointWhile(endpoint, ["CREATING", "UPDATING", "DELETING"], context.now);
    const version = patch.version ?? endpoint.moves.at(-1)?.version ?? 1;
    const move = {
      version: known(harness, version),
      change: endpointChange(harness, context),
    };
    return {
      ...endpoint,
      ...(patch.description !== undefined && { description: patch.description }),
      moves: [...endpoint.moves, move],
    };
  });
}

export function withoutEndpoint(harness: Harness, name: string, context: ChangeContext): Harness {
  return replaced(harness, name, (endpoint) => {
    refuseEndpointWhile(endpoint, ["CREATING", "UPDATING", "DELETING"], context.now);
    const { startedAt, dueAt, outcome } = endpointChange(harness, context);
    const isPlain = outcome.status === SUCCESS.status;
    return { ...endpoint, deletion: { startedAt, dueAt, outcome: isPlain ? GONE : outcome } };
  });
}

function replaced(
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

/** An endpoint is there when its version is, or later; it fails with it too. */
function behind(change: Change, harnessName: string, context: ChangeContext): Change {
  if (change.outcome.status !== SUCCESS.status) {
    const outcome = { status: "CREATE_FAILED", failureReason: "The harness failed" };
    return { ...change, outcome };
  }
  return {
    startedAt: change.startedAt,
    dueAt: change.dueAt + context.delays.endpoint,
    outcome: context.injected(harnessName, "endpoint") ?? SUCCESS,
  };
}

function endpointChange({ name }: Harness, { now, delays, injected }: ChangeContext): Change {
  const outcome = injected(name, "endpoint") ?? SUCCESS;
  return { startedAt: now, dueAt: now + delays.endpoint, outcome };
}

function known(harness: Harness, version: number): number {
  if (harness.versions.some(({ number }) => number === version)) return version;
  throw notFound(`Version ${version} of harness ${harness.id} does not exist`);
}

function refuseWhile(harness: Harness, busy: readonly string[], now: number): void {
  const { status } = harnessStanding(harness, now);
  if (busy.includes(status)) throw conflict(`Harness ${harness.id} is in ${status} state`);
}

function refuseEndpointWhile(
  endpoint: HarnessEndpoint,
  busy: readonly string[],
  now: number,
): void {
  const { status } = endpointStanding(endpoint, now);
  if (busy.includes(status)) throw conflict(`Endpoint ${endpoint.name} is in ${status} state`);
}

function full({ id }: Harness, most: number, things: string): ServiceError {
  const message = `Harness ${id} has ${most} ${things}, which is the limit`;
  return new ServiceError(402, "ServiceQuotaExceededException", message);
}

export function conflict(message: string): ServiceError {
  return new ServiceError(409, "ConflictException", message);
}

export function notFound(message: string): ServiceError {
  return new ServiceError(404, "ResourceNotFoundException", message);
}
