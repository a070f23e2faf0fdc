import type { JsonObject } from "../../data/json.ts";
import { defineOperation, type OperationRequest, type Operation } from "./operation.ts";
import {
  createConflictError,
  createHarnessState,
  deleteHarnessState,
  createNotFoundError,
  updateHarnessState,
} from "./harness-changes.ts";
import { readConfiguration, readPatch } from "./configuration.ts";
import type { ControlParts } from "./control-parts.ts";
import type { Harness } from "./harness-state.ts";
import { formatNumberKey, paginate, readPageRequest } from "./paginate.ts";
import { readHarnessId, readVersion, TAGS_RULE } from "./request-members.ts";
import { encodeHarnessSummary, encodeHarness, encodeVersionSummary } from "./encode-resources.ts";

/** The harness operations of the service model. */
export function defineHarnessOperations(parts: ControlParts): Operation[] {
  const harnessPath = "/harnesses/:harnessId";
  return [
    defineOperation("CreateHarness", "POST /harnesses", 201, (call) => createHarness(parts, call)),
    defineOperation("GetHarness", `GET ${harnessPath}`, 200, async (call) =>
      getHarness(parts, call),
    ),
    defineOperation("UpdateHarness", `PATCH ${harnessPath}`, 200, (call) =>
      updateHarness(parts, call),
    ),
    defineOperation("DeleteHarness", `DELETE ${harnessPath}`, 200, (call) =>
      deleteHarness(parts, call),
    ),
    defineOperation("ListHarnesses", "GET /harnesses", 200, async (call) =>
      listHarnesses(parts, call),
    ),
    defineOperation("ListHarnessVersions", `GET ${harnessPath}/versions`, 200, async (call) =>
      listVersions(parts, call),
    ),
  ];
}

async function createHarness(parts: ControlParts, call: OperationRequest): Promise<JsonObject> {
  const { fields } = call;
  const name =
    fields.readText("harnessName", HARNESS_NAME_RULE) ?? fields.refuseMissing("harnessName");
  const tags = fields.readTextMap("tags", TAGS_RULE) ?? {};
  const configuration = readConfiguration(fields);
  fields.throwIfInvalid();
  const harness = await parts.changeOnce(call, (harnesses) => {
    if (harnesses.some((other) => other.name === name)) {
      throw createConflictError(`Harness with name ${name} already exists`);
    }
    // AWS creates a managed memory if the request has no memory.
    const memory = configuration.memory ?? { managedMemoryConfiguration: {} };
    const identity = { id: parts.createId(name), name, tags };
    return createHarnessState(
      { ...identity, configuration: { ...configuration, memory } },
      parts.createContext(call),
    );
  });
  return { harness: viewStartedChange(parts, harness, call) };
}

function getHarness(parts: ControlParts, { fields, now }: OperationRequest): JsonObject {
  const id = readHarnessId(fields);
  const number = readVersion(fields, "harnessVersion");
  fields.throwIfInvalid();
  const harness = parts.findVisible(id, now);
  if (number === undefined) return { harness: encodeHarness(parts.location, harness, { now }) };
  const version = harness.versions.find((candidate) => candidate.number === number);
  if (version === undefined) {
    throw createNotFoundError(`Version ${number} of harness ${id} does not exist`);
  }
  return { harness: encodeHarness(parts.location, harness, { now, version }) };
}

async function updateHarness(parts: ControlParts, call: OperationRequest): Promise<JsonObject> {
  const { fields } = call;
  const id = readHarnessId(fields);
  const patch = readPatch(fields);
  fields.throwIfInvalid();
  const harness = await parts.changeOnce(call, () =>
    updateHarnessState(parts.findVisible(id, call.now), patch, parts.createContext(call)),
  );
  return { harness: viewStartedChange(parts, harness, call) };
}

async function deleteHarness(parts: ControlParts, call: OperationRequest): Promise<JsonObject> {
  const { fields } = call;
  const id = readHarnessId(fields);
  fields.throwIfInvalid();
  const harness = await parts.changeOnce(call, () =>
    deleteHarnessState(parts.findVisible(id, call.now), {
      ...parts.createContext(call),
      whileCreating: parts.deleteWhileCreating === "accept",
    }),
  );
  return { harness: viewStartedChange(parts, harness, call) };
}

function listHarnesses(parts: ControlParts, { fields, now }: OperationRequest): JsonObject {
  const request = readPageRequest("harnesses", fields);
  const { items, ...rest } = paginate(
    parts.listVisible(now),
    ({ createdAt, id }) => `${formatNumberKey(createdAt)} ${id}`,
    request,
  );
  return {
    harnesses: items.map((harness) => encodeHarnessSummary(parts.location, harness, now)),
    ...rest,
  };
}

function listVersions(parts: ControlParts, { fields, now }: OperationRequest): JsonObject {
  const id = readHarnessId(fields);
  const request = readPageRequest(`versions of ${id}`, fields);
  const harness = parts.findVisible(id, now);
  const newestFirst = ({ number }: Harness["versions"][number]): string =>
    formatNumberKey(Number.MAX_SAFE_INTEGER - number);
  const { items, ...rest } = paginate(harness.versions, newestFirst, request);
  return {
    harnessVersions: items.map((version) =>
      encodeVersionSummary(parts.location, harness, { now, version }),
    ),
    ...rest,
  };
}

/** The response to a change always shows the pending status, even if the change takes no time. */
function viewStartedChange(
  parts: ControlParts,
  harness: Harness,
  { now }: OperationRequest,
): JsonObject {
  const view = encodeHarness(parts.location, harness, { now });
  const change = harness.deletion ?? harness.versions.at(-1)?.change;
  if (change === undefined || change.startedAt !== now) return view;
  return encodeHarness(parts.location, harness, { now: now - 1 });
}

const HARNESS_NAME_RULE = { pattern: "[a-zA-Z][a-zA-Z0-9_]{0,39}" };
