import { join } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { HarnessRegistry } from "../control/harness-registry.ts";
import { ServiceError, type EmulatorRoute } from "../service/service-types.ts";
import { recordResponse } from "../recording/record-response.ts";
import type { Switches } from "../switches.ts";
import type { BrainFinder, Commands, DataPlane, RuntimeRecord } from "./data-plane.ts";
import { createCommandRoute } from "./operations/command-route.ts";
import { createHarnessRoute } from "./operations/invoke-harness.ts";
import { createRuntimeRoute } from "./operations/invoke-runtime.ts";
import { createSessionManager } from "./session/session-manager.ts";
import { createStopRoute } from "./operations/stop-session.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface DataPlaneOptions {
  readonly harnesses: HarnessRegistry;
  readonly runtimes?: readonly RuntimeRecord[];
  readonly brains: BrainFinder;
  readonly switches: Switches;
  readonly clock: Clock;
  /** Absent: sessions end with the process. */
  readonly dataDirectory?: string;
  readonly commands?: Commands;
  /** The folder for a recording of every streamed response. Absent: no recordings. */
  readonly recordings?: string;
  /** Called for failures which are not reported to a client. */
  readonly onBug?: (error: unknown) => void;
}

export interface DataPlaneHandle {
  readonly routes: readonly EmulatorRoute[];
  /** Ends all running work and removes temporary data. */
  close(): Promise<void>;
}

/** The session operations: invoke harnesses and agents, run commands, stop sessions. */
export function createDataRoutes(options: DataPlaneOptions): DataPlaneHandle {
  const { clock, switches, dataDirectory, recordings } = options;
  const plane: DataPlane = {
    harnesses: options.harnesses,
    runtimes: options.runtimes ?? [],
    brains: options.brains,
    switches,
    clock,
    commands: options.commands ?? "refuse",
    sessions: createSessionManager({
      clock,
      switches,
      ...omitUndefined({ dataDirectory }),
    }),
  };
  const routes = [
    createHarnessRoute(plane),
    createRuntimeRoute(plane),
    createCommandRoute(plane),
    createStopRoute(plane),
  ];
  const safeRoutes = routes.map(exposeConfigurationErrors);
  return {
    routes: recordings === undefined ? safeRoutes : recordRoutes(safeRoutes, recordings, options),
    close: () => plane.sessions.close(),
  };
}

/** Reports an invalid script or setting to the client, because its user wrote it. */
function exposeConfigurationErrors(route: EmulatorRoute): EmulatorRoute {
  return {
    ...route,
    async handle(request, pathParams) {
      try {
        return await route.handle(request, pathParams);
      } catch (error) {
        if (!(error instanceof SpanlineError)) throw error;
        throw new ServiceError(424, "RuntimeClientError", error.message);
      }
    },
  };
}

function recordRoutes(
  routes: readonly EmulatorRoute[],
  folder: string,
  { clock, onBug = () => {} }: DataPlaneOptions,
): EmulatorRoute[] {
  const onFailure = reportOnce(folder, onBug);
  return routes.map((route) => recordRoute(route, { folder, clock, onFailure }));
}

interface Recorder {
  readonly folder: string;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

function recordRoute(route: EmulatorRoute, { folder, clock, onFailure }: Recorder): EmulatorRoute {
  return {
    ...route,
    async handle(request, pathParams) {
      const response = await route.handle(request, pathParams);
      const path = join(folder, `${request.requestId}.jsonl`);
      return recordResponse(response, {
        path,
        clock,
        disconnectSignal: request.disconnectSignal,
        onFailure,
      });
    },
  };
}

/** Reports only the first failure: a full disk stays full. */
function reportOnce(folder: string, report: (error: Error) => void): (error: unknown) => void {
  let isReported = false;
  return (cause) => {
    if (isReported) return;
    isReported = true;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot write a recording in ${folder}: ${reason}. Responses continue, and some are not recorded`;
    report(new Error(message, { cause }));
  };
}
