import type { TimeBudget } from "../async/time-budget.ts";
import type { ConnectionOptions } from "../aws/agentcore-client.ts";
import type { SteadyClock } from "../platform/clock.ts";
import { randomToken } from "../platform/random.ts";
import * as request from "../wire/agentcore/control/control-request.ts";
import {
  readDeletedHarness,
  readEndpoint,
  readEndpoints,
  readHarness,
  readHarnesses,
  readVersions,
  type Endpoint,
  type Harness,
  type Page,
} from "../wire/agentcore/control/control-response.ts";
import type { HarnessChanges, HarnessSpec } from "../wire/agentcore/control/harness-settings.ts";
import { createControlConnection, type ControlConnection } from "./control-connection.ts";

export type { Endpoint, Harness };

export interface ControlOptions extends ConnectionOptions {
  readonly region: string;
  /** Jitter, from 0 to below 1. */
  readonly random?: () => number;
  /** Creates the client token of a request, by which the service recognizes duplicates. Default: random. */
  readonly createToken?: () => string;
}

/**
 * The AgentCore control plane for harnesses. Reads and deletes are retried within the budget; creates and updates are
 * sent once.
 */
export interface ControlClient extends HarnessMethods, EndpointMethods {
  readonly clock: SteadyClock;
  /** The origin of the service, used to keep stored data of different services apart. */
  readonly origin: string;
}

interface HarnessMethods {
  createHarness(spec: HarnessSpec, budget: TimeBudget): Promise<Harness>;
  getHarness(id: string, budget: TimeBudget, version?: string): Promise<Harness>;
  updateHarness(id: string, changes: HarnessChanges, budget: TimeBudget): Promise<Harness>;
  /** Resolves when the deletion has started. Null if the service returned no harness. */
  deleteHarness(
    id: string,
    budget: TimeBudget,
    options?: request.DeleteHarnessOptions,
  ): Promise<Harness | null>;
  listHarnesses(budget: TimeBudget): Promise<Listing<Harness>>;
  listVersions(id: string, budget: TimeBudget): Promise<Listing<Harness>>;
}

interface EndpointMethods {
  createEndpoint(id: string, endpoint: request.EndpointSpec, budget: TimeBudget): Promise<Endpoint>;
  getEndpoint(id: string, name: string, budget: TimeBudget): Promise<Endpoint>;
  updateEndpoint(
    id: string,
    change: request.NamedEndpointChanges,
    budget: TimeBudget,
  ): Promise<Endpoint>;
  deleteEndpoint(id: string, name: string, budget: TimeBudget): Promise<void>;
  listEndpoints(id: string, budget: TimeBudget): Promise<Listing<Endpoint>>;
}

export function createControlClient(options: ControlOptions): ControlClient {
  const { createToken = randomToken } = options;
  const connection = createControlConnection(options);
  return {
    clock: connection.clock,
    origin: connection.origin,
    ...createHarnessMethods(connection, createToken),
    ...createEndpointMethods(connection, createToken),
  };
}

function createHarnessMethods(
  { sendOnce, sendWithRetry }: ControlConnection,
  createToken: () => string,
): HarnessMethods {
  return {
    async createHarness(spec, budget) {
      const body = await sendOnce(request.encodeCreateHarness(spec, createToken()), budget);
      return readHarness(body, "CreateHarness");
    },
    async getHarness(id, budget, version) {
      const body = await sendWithRetry(request.encodeReadHarness(id, version), budget);
      return readHarness(body, "GetHarness");
    },
    async updateHarness(id, changes, budget) {
      const body = await sendOnce(request.encodeUpdateHarness(id, changes, createToken()), budget);
      return readHarness(body, "UpdateHarness");
    },
    async deleteHarness(id, budget, settings) {
      const body = await sendWithRetry(
        request.encodeDeleteHarness(id, createToken(), settings),
        budget,
      );
      return readDeletedHarness(body, "DeleteHarness");
    },
    listHarnesses: (budget) =>
      listAllPages(
        async (cursor) => {
          const body = await sendWithRetry(request.encodeListHarnesses(cursor), budget);
          return readHarnesses(body, "ListHarnesses");
        },
        ({ id }) => id,
      ),
    listVersions: (id, budget) =>
      listAllPages(
        async (cursor) => {
          const body = await sendWithRetry(request.encodeListVersions(id, cursor), budget);
          return readVersions(body, "ListHarnessVersions");
        },
        ({ version, arn }) => version ?? arn,
      ),
  };
}

function createEndpointMethods(
  { sendOnce, sendWithRetry }: ControlConnection,
  createToken: () => string,
): EndpointMethods {
  return {
    async createEndpoint(id, endpoint, budget) {
      const body = await sendOnce(
        request.encodeCreateEndpoint(id, endpoint, createToken()),
        budget,
      );
      return readEndpoint(body, "CreateHarnessEndpoint");
    },
    async getEndpoint(id, name, budget) {
      const body = await sendWithRetry(request.encodeReadEndpoint(id, name), budget);
      return readEndpoint(body, "GetHarnessEndpoint");
    },
    async updateEndpoint(id, change, budget) {
      const body = await sendOnce(request.encodeUpdateEndpoint(id, change, createToken()), budget);
      return readEndpoint(body, "UpdateHarnessEndpoint");
    },
    async deleteEndpoint(id, name, budget) {
      await sendWithRetry(request.encodeDeleteEndpoint(id, name, createToken()), budget);
    },
    listEndpoints: (id, budget) =>
      listAllPages(
        async (cursor) => {
          const body = await sendWithRetry(request.encodeListEndpoints(id, cursor), budget);
          return readEndpoints(body, "ListHarnessEndpoints");
        },
        ({ name }) => name,
      ),
  };
}

interface Listing<Item> {
  readonly items: readonly Item[];
  /**
   * Whether the list is complete. If the service returns a cursor twice, the pages form a loop and the rest is
   * unreachable, so an item missing here may still exist.
   */
  readonly isComplete: boolean;
}

/** Reads all pages of a list. Duplicates are removed by id. */
async function listAllPages<Item>(
  readPage: (cursor: string | null) => Promise<Page<Item>>,
  getId: (item: Item) => string,
): Promise<Listing<Item>> {
  const items = new Map<string, Item>();
  const cursors = new Set<string>();
  let cursor: string | null = null;
  for (;;) {
    const page: Page<Item> = await readPage(cursor);
    for (const item of page.items) {
      if (!items.has(getId(item))) items.set(getId(item), item);
    }
    cursor = page.nextCursor;
    const isRepeated = cursor !== null && cursors.has(cursor);
    if (cursor === null || isRepeated) {
      return { items: [...items.values()], isComplete: !isRepeated };
    }
    cursors.add(cursor);
  }
}
