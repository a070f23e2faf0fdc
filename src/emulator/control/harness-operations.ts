import type { JsonObject } from "../../domain/json.ts";
import { operation, type Call, type Operation } from "./call.ts";
import { conflict, created, deleted, notFound, updated } from "./changes.ts";
import { readConfiguration, readPatch } from "./configuration.ts";
import type { ControlParts } from "./control-parts.ts";
import type { Harness } from "./harness-state.ts";
import { numberKey, pageOf, readPageRequest } from "./pages.ts";
import { readHarnessId, readVersion, TAGS } from "./request-members.ts";
import { harnessSummary, harnessView, versionSummary } from "./views.ts";

/** The operations on harnesses, by the service's model. */
export function harnessOperations(parts: ControlParts): Operation[] {
  const one = "/harnesses/:harnessId";
  return [
    operation("CreateHarness", "POST /harnesses", 201, (call) => createHarness(parts, call)),
    operation("GetHarness", `GET ${one}`, 200, async (call) => getHarness(parts, call)),
    operation("UpdateHarness", `PATCH ${one}`, 200, (call) => updateHarness(parts, call)),
    operation("DeleteHarness", `DELETE ${one}`, 200, (call) => deleteHarness(parts, call)),
    operation("ListHarnesses", "GET /harnesses", 200, async (call) => listHarnesses(parts, call)),
    operation("ListHarnessVersions", `GET ${one}/versions`, 200, async (call) =>
      listVersions(parts, call),
    ),
  ];
}

async function createHarness(parts: ControlParts, call: Call): Promise<JsonObject> {
  const { fields } = call;
  const name = fields.text("harnessName", HARNESS_NAME) ?? fields.missing("harnessName");
  const tags = fields.texts("tags", TAGS) ?? {};
  const configuration = readConfiguration(fields);
  fields.finish();
  const harness = await parts.changeOnce(call, (harnesses) => {
    if (harnesses.some((other) => other.name === name)) {
      throw conflict(`Harness with name ${name} already exists`);
    }
    // The service makes a memory for a harness that says nothing about one.
    const memory = configuration.memory ?? { managedMemoryConfiguration: {} };
    const given = { id: parts.newId(name), name, tags };
    return created({ ...given, configuration: { ...configuration, memory } }, parts.context(call));
  });
  return { harness: begun(parts, harness, call) };
}

function getHarness(parts: ControlParts, { fields, now }: Call): JsonObject {
  const id = readHarnessId(fields);
  const number = readVersion(fields, "harnessVersion");
  fields.finish();
  const harness = parts.visible(id, now);
  if (number === undefined) return { harness: harnessView(parts.place, harness, { now }) };
  const version = harness.versions.find((one) => one.number === number);
  if (version === undefined) {
    throw notFound(`Version ${number} of harness ${id} does not exist`);
  }
  return { harness: harnessView(parts.place, harness, { now, version }) };
}

async function updateHarness(parts: ControlParts, call: Call): Promise<JsonObject> {
  const { fields } = call;
  const id = readHarnessId(fields);
  const patch = readPatch(fields);
  fields.finish();
  const harness = await parts.changeOnce(call, () =>
    updated(parts.visible(id, call.now), patch, parts.context(call)),
  );
  return { harness: begun(parts, harness, call) };
}

async function deleteHarness(parts: ControlParts, call: Call): Promise<JsonObject> {
  const { fields } = call;
  const id = readHarnessId(fields);
  fields.finish();
  const harness = await parts.changeOnce(call, () =>
    deleted(parts.visible(id, call.now), {
      ...parts.context(call),
      whileCreating: parts.deleteWhileCreating === "accept",
    }),
  );
  return { harness: begun(parts, harness, call) };
}

function listHarnesses(parts: ControlParts, { fields, now }: Call): JsonObject {
  const request = readPageRequest("harnesses", fields);
  const { items, ...rest } = pageOf(
    parts.allVisible(now),
    ({ createdAt, id }) => `${numberKey(createdAt)} ${id}`,
    request,
  );
  return { harnesses: items.map((harness) => harnessSummary(parts.place, harness, now)), ...rest };
}

function listVersions(parts: ControlParts, { fields, now }: Call): JsonObject {
  const id = readHarnessId(fields);
  const request = readPageRequest(`versions of ${id}`, fields);
  const harness = parts.visible(id, now);
  const newestFirst = ({ number }: Harness["versions"][number]): string =>
    numberKey(Number.MAX_SAFE_INTEGER - number);
  const { items, ...rest } = pageOf(harness.versions, newestFirst, request);
  return {
    harnessVersions: items.map((version) => versionSummary(parts.place, harness, { now, version })),
    ...rest,
  };
}

/** The answer to a change shows it under way, however little time it takes. */
function begun(parts: ControlParts, harness: Harness, { now }: Call): JsonObject {
  const view = harnessView(parts.place, harness, { now });
  const change = harness.deletion ?? harness.versions.at(-1)?.change;
  if (change === undefined || change.startedAt !== now) return view;
  return harnessView(parts.place, harness, { now: now - 1 });
}

const HARNESS_NAME = { pattern: "[a-zA-Z][a-zA-Z0-9_]{0,39}" };
