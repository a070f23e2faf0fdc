import { randomInt, randomUUID } from "node:crypto";
import { join } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import type { ServedRequest } from "../http/server/http-types.ts";
import { startHttpServer, type HttpServer } from "../http/server/start-server.ts";
import type { ServerLimits } from "../http/server/server-options.ts";
import { systemClock } from "../platform/clock.ts";
import { FolderLockedError, lockFolder } from "../platform/files/folder-lock.ts";
import { readPackageVersion } from "../platform/package-version.ts";
import { formatIsoTime } from "../text/format-iso-time.ts";
import {
  createStrictAuthenticator,
  type AuthenticateRequest,
} from "./service/authenticate-request.ts";
import {
  DEMO_HARNESS_ID,
  openControlPlane,
  type ControlPlane,
} from "./control/emulated-control-plane.ts";
import { NO_DELAYS } from "./control/delays.ts";
import type { InjectedOutcome } from "./control/injected-outcomes.ts";
import { formatHarnessArn, type AccountLocation } from "./control/resource-names.ts";
import type { HarnessRegistry } from "./control/harness-registry.ts";
import {
  DEFAULT_LOCATION,
  TEST_CREDENTIALS,
  type DataPlaneRoutes,
  type EmulatorOptions,
} from "./emulator-options.ts";
import type { EmulatorRoute } from "./service/service-types.ts";
import type { MovableClock } from "./movable-clock.ts";
import { createOperatorRoutes, type OperatorParts } from "./service/operator-routes.ts";
import { openSavedClock, type SavedClock } from "./saved-clock.ts";
import { UNSUPPORTED_OPERATIONS } from "./service/unsupported-operations.ts";
import { createService, type GuardedRoute } from "./service/create-service.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface Emulator extends AccountLocation {
  readonly url: string;
  readonly port: number;
  /** The ARN of the harness `demo`, which always exists. */
  readonly demoArn: string;
  readonly clock: MovableClock;
  readonly registry: HarnessRegistry;
  /** Moves the clock, also for later emulators with the same data directory. */
  advance(milliseconds: number): Promise<void>;
  /** Replaces the result of the next change of a kind to a harness. */
  inject(outcome: InjectedOutcome): void;
  /** Closes all connections and saves persistent data. */
  close(): Promise<void>;
}

/** Starts the emulator. Resolves when it is listening. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkHost(options.host ?? "127.0.0.1");
  const { dataDirectory } = options;
  const release =
    dataDirectory === undefined ? async () => {} : await lockDataDirectory(dataDirectory);
  try {
    const emulator = await openEmulator(options);
    const close = async (): Promise<void> => {
      await emulator.close();
      await release();
    };
    return { ...emulator, close };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Locks the data directory: two emulators would overwrite each other's data. */
async function lockDataDirectory(dataDirectory: string): Promise<() => Promise<void>> {
  try {
    return await lockFolder(dataDirectory);
  } catch (error) {
    if (!(error instanceof FolderLockedError)) throw error;
    const message = `The data directory ${dataDirectory} is in use by process ${error.pid}. Fix: stop that emulator, or use another directory. If that process is not an emulator, delete ${error.file}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "dataDirectory" } });
  }
}

async function openEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { dataDirectory, onBug = () => {} } = options;
  const resolveDataPath = (name: string) =>
    dataDirectory === undefined ? undefined : join(dataDirectory, name);
  const location = {
    region: options.region ?? DEFAULT_LOCATION.region,
    account: options.account ?? DEFAULT_LOCATION.account,
  };
  const savedClock = await openSavedClock(
    options.clock ?? systemClock,
    resolveDataPath("clock.json"),
  );
  const { clock, advance } = savedClock;
  const control = await openControlPlane({
    path: resolveDataPath("harnesses.json"),
    now: () => clock.now(),
    location,
    delays: { ...NO_DELAYS, ...options.delays },
    deleteWhileCreating: options.deleteWhileCreating ?? "409",
    createSuffix: createHarnessSuffix,
  });
  const { registry, inject } = control;
  const data = await options.dataPlane?.({ ...location, registry, clock, dataDirectory, onBug });
  const server = await startService(options, { location, savedClock, control, data }).catch(
    async (error: unknown) => {
      await data?.close();
      throw error;
    },
  );
  return {
    url: server.url,
    port: server.port,
    ...location,
    demoArn: formatHarnessArn(location, DEMO_HARNESS_ID),
    clock,
    registry,
    advance,
    inject,
    async close() {
      await server.close();
      await data?.close();
      await control.close();
    },
  };
}

interface ServiceParts {
  readonly location: AccountLocation;
  readonly savedClock: SavedClock;
  readonly control: ControlPlane;
  readonly data: DataPlaneRoutes | undefined;
}

/** Starts the HTTP server with the routes of the control plane, the data plane and the operator. */
async function startService(
  options: EmulatorOptions,
  { location, savedClock, control, data }: ServiceParts,
): Promise<HttpServer> {
  const { onBug = () => {} } = options;
  const now = (): number => savedClock.clock.now();
  const authenticate = createAuthenticator(options, location, now);
  const guardControl = (list: readonly EmulatorRoute[]): GuardedRoute[] =>
    guardRoutes(list, (request) => authenticate(request, "control"));
  const guardData = (list: readonly EmulatorRoute[]): GuardedRoute[] =>
    guardRoutes(list, (request) => authenticate(request, "data"));
  const serviceRoutes = [...guardControl(control.routes), ...guardData(data?.routes ?? [])];
  const describe = createDescription(options, { location, savedClock, routes: serviceRoutes });
  const operatorParts = { describe, now, advance: savedClock.advance, inject: control.inject };
  return startHttpServer({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    ...omitUndefined({ allowedHosts: options.allowedHosts }),
    limits: SERVER_LIMITS,
    onBug,
    ...createService({
      routes: [
        ...guardRoutes(createOperatorRoutes(operatorParts), () => {}),
        ...serviceRoutes,
        ...guardControl(UNSUPPORTED_OPERATIONS.control),
        ...guardData(UNSUPPORTED_OPERATIONS.data),
      ],
      now,
      createRequestId: randomUUID,
      onBug,
    }),
  });
}

const MEGABYTE = 1_000_000;

const SERVER_LIMITS: ServerLimits = {
  /** The limits of the service: an agent accepts up to 100 MB; configurations and messages are smaller. */
  bodyBytes: (path) => (/^\/runtimes\/[^/]+\/invocations$/.test(path) ? 100 : 10) * MEGABYTE,
  headerBytes: 64 * 1024,
};

function createAuthenticator(
  options: EmulatorOptions,
  { region }: AccountLocation,
  now: () => number,
): AuthenticateRequest {
  if (options.signatures !== "strict") return () => {};
  const { credentials = [TEST_CREDENTIALS], bearerTokens } = options;
  return createStrictAuthenticator({ region, credentials, bearerTokens, now });
}

interface DescriptionParts {
  readonly location: AccountLocation;
  readonly savedClock: SavedClock;
  readonly routes: readonly EmulatorRoute[];
}

function createDescription(
  {
    signatures = "off",
    dataDirectory = null,
  }: { signatures?: string; dataDirectory?: string | null },
  { location, savedClock, routes }: DescriptionParts,
): OperatorParts["describe"] {
  return () => ({
    name: "Spanline's emulator of Amazon Bedrock AgentCore",
    version: readPackageVersion(),
    ...location,
    signatures,
    dataDirectory,
    demoHarnessArn: formatHarnessArn(location, DEMO_HARNESS_ID),
    now: formatIsoTime(savedClock.clock.now()),
    clockAheadSeconds: savedClock.clock.offset() / 1000,
    operations: routes.map(({ method, path }) => `${method} ${path}`),
  });
}

function guardRoutes(
  routes: readonly EmulatorRoute[],
  guard: (request: ServedRequest) => void,
): GuardedRoute[] {
  return routes.map((route) => ({
    method: route.method,
    path: route.path,
    handle: (request, labels) => route.handle(request, labels),
    guard,
  }));
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

function createHarnessSuffix(): string {
  return Array.from({ length: 10 }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
}

/** Only loopback addresses are allowed: every client of the emulator has full access, including commands. */
function checkHost(host: string): void {
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) return;
  const message = `"${host}" is not a valid host: expected a loopback address. Fix: use 127.0.0.1, ::1 or localhost`;
  throw new SpanlineError("invalid_option", message, { details: { path: "host" } });
}
