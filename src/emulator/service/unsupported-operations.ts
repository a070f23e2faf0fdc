import { ServiceError, type EmulatorRoute } from "./service-types.ts";

/** Operations of the service that the emulator knows by name and does not run, by the part of the service they are of. */
export const UNSUPPORTED_OPERATIONS: {
  readonly [Plane in "control" | "data"]: readonly EmulatorRoute[];
} = {
  control: [
    createUnsupportedRoute(
      "ResetTokenVaultKeyMaterial",
      "/identities/reset-token-vault-key-material",
    ),
  ],
  data: [createUnsupportedRoute("InvokeWebSearch", "/web-search/:webSearchId/invoke")],
};

function createUnsupportedRoute(name: string, path: string): EmulatorRoute {
  return {
    method: "POST",
    path,
    handle() {
      const message = `The emulator does not support ${name}`;
      throw new ServiceError(404, "UnknownOperationException", message);
    },
  };
}
