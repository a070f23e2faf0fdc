import { ServiceError, type EmulatorRoute } from "./service-types.ts";

/** Known operations of the service that the emulator does not support, by plane. */
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
