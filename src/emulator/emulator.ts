import { randomInt, randomUUID } from "node:crypto";
import { join } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import type { ServedRequest } from "../http/served.ts";
import { startServer } from "../http/server.ts";
import type { ServerLimits } from "../http/server-options.ts";
import { systemClock } from "../platform/clock.ts";
import { FolderHeldError, holdFolder } from "../platform/held-folder.ts";
import { packageVersion } from "../platform/package-version.ts";
import { isoTime } from "../domain/iso-time.ts";
import { strictAuthentication, type Authenticate } from "./authenticate.ts";
import { DEMO_ID, openControlPlane } from "./control/control-plane.ts";
import { NO_DELAYS } from "./control/delays.ts";
import type { InjectedOutcome } from "./control/injected-outcomes.ts";
import { harnessArn, type Place } from "./control/names.ts";
import type { HarnessRegistry } from "./control/registry.ts";
import { DEFAULT_PLACE, TEST_CREDENTIALS, type EmulatorOptions } from "./emulator-options.ts";
import type { Route } from "./exchange.ts";
import type { MovableClock } from "./movable-clock.ts";
import { operatorRoutes, type OperatorParts } from "./operator-routes.ts";
import { openClock, type SavedClock } from "./saved-clock.ts";
import { UNSUPPORTED_OPERATIONS } from "./unsupported-operations.ts";
import { service, type GuardedRoute } from "./service.ts";

export interface Emulator extends Place {
  readonly url: string;
  readonly port: number;
  /** Of the harness `demo`, which is there from the start. */
  readonly demoArn: string;
  readonly clock: MovableClock;
  readonly registry: HarnessRegistry;
  /** Moves the clock, for this and for later emulators on the same data directory. */
  advance(milliseconds: number): Promise<void>;
  /** The next change of a kind to a harness comes to this instead of a success. */
  inject(outcome: InjectedOutcome): void;
  /** Ends all connections and saves what is kept. */
  close(): Promise<void>;
}

/** AgentCore on this machine: resolves when it listens. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkHost(options.host ?? "127.0.0.1");
  const { dataDirectory } = options;
  const release = dataDirectory === undefined ? async () => {} : await held(dataDirectory);
  try {
    const emulator = await started(options);
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

/** Two on one directory would each save over what the other has. */
async function held(dataDirectory: string): Promise<() => Promise<void>> {
  try {
    return await holdFolder(dataDirectory);
  } catch (error) {
    if (!(error instanceof FolderHeldError)) throw error;
    const message = `The data directory ${dataDirectory} is in use by process ${error.pid}; stop that emulator, or use another directory. If there is none, delete ${error.file}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "dataDirectory" } });
  }
}

async function started(options: EmulatorOptions): Promise<Emulator> {
  const { dataDirectory, onBug = () => {} } = options;
  const inData = (name: string) =>
    dataDirectory === undefined ? undefined : join(dataDirectory, name);
  const place = {
    region: options.region ?? DEFAULT_PLACE.region,
    account: options.account ?? DEFAULT_PLACE.account,
  };
  const saved = await openClock(options.clock ?? systemClock, inData("clock.json"));
  const { clock, advance } = saved;
  const now = (): number => clock.now();
  const { routes, registry, inject, close } = await openControlPlane({
    path: inData("harnesses.json"),
    now,
    place,
    delays: { ...NO_DELAYS, ...options.delays },
    deleteWhileCreating: options.deleteWhileCreating ?? "409",
    newSuffix: harnessSuffix,
  });
  const data = await options.dataPlane?.({ ...place, registry, clock, dataDirectory, onBug });
  const authenticate = authentication(options, place, now);
  const ofControl = (list: readonly Route[]): GuardedRoute[] =>
    guarded(list, (request) => authenticate(request, "control"));
  const ofData = (list: readonly Route[]): GuardedRoute[] =>
    guarded(list, (request) => authenticate(request, "data"));
  const serviceRoutes = [...ofControl(routes), ...ofData(data?.routes ?? [])];
  const describe = describing(options, { place, saved, routes: serviceRoutes });
  const server = await startServer({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    ...(options.allowedHosts !== undefined && { allowedHosts: options.allowedHosts }),
    limits: LIMITS,
    onBug,
    ...service({
      routes: [
        ...guarded(operatorRoutes({ describe, now, advance, inject }), () => {}),
        ...serviceRoutes,
        ...ofControl(UNSUPPORTED_OPERATIONS.control),
        ...ofData(UNSUPPORTED_OPERATIONS.data),
      ],
      now,
      newRequestId: randomUUID,
      onBug,
    }),
  }).catch(async (error: unknown) => {
    await data?.close();
    throw error;
  });
  return {
    url: server.url,
    port: server.port,
    ...place,
    demoArn: harnessArn(place, DEMO_ID),
    clock,
    registry,
    advance,
    inject,
    async close() {
      await server.close();
      await data?.close();
      await close();
    },
  };
}

const MEGABYTE = 1_000_000;

const LIMITS: ServerLimits = {
  /** An agent takes as much as the service lets through; everything else is configuration and messages. */
  bodyBytes: (path) => (/^\/runtimes\/[^/]+\/invocations$/.test(path) ? 100 : 10) * MEGABYTE,
  headerBytes: 64 * 1024,
};

function authentication(
  options: EmulatorOptions,
  { region }: Place,
  now: () => number,
): Authenticate {
  if (options.signatures !== "strict") return () => {};
  const { credentials = [TEST_CREDENTIALS], bearerTokens } = options;
  return strictAuthentication({ region, credentials, bearerTokens, now });
}

interface Described {
  readonly place: Place;
  readonly saved: SavedClock;
  readonly routes: readonly Route[];
}

function describing(
  {
    signatures = "off",
    dataDirectory = null,
  }: { signatures?: string; dataDirectory?: string | null },
  { place, saved, routes }: Described,
): OperatorParts["describe"] {
  return () => ({
    name: "Spanline's emulator of Amazon Bedrock AgentCore",
    version: packageVersion(),
    ...place,
    signatures,
    dataDirectory,
    demoHarnessArn: harnessArn(place, DEMO_ID),
    now: isoTime(saved.clock.now()),
    clockAheadSeconds: saved.clock.offset() / 1000,
    operations: routes.map(({ method, path }) => `${method} ${path}`),
  });
}

function guarded(
  routes: readonly Route[],
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

function harnessSuffix(): string {
  return Array.from({ length: 10 }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
}

/** Whoever reaches the emulator may do all that it does, run commands among it. */
function checkHost(host: string): void {
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) return;
  const message = `The emulator listens on this machine only: "${host}" is no loopback address; use 127.0.0.1, ::1 or localhost`;
  throw new SpanlineError("invalid_option", message, { details: { path: "host" } });
}
