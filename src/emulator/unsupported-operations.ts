import { ServiceError, type Route } from "./exchange.ts";

/** Operations of the service that the emulator knows by name and does not run, by the part of the service they are of. */
export const UNSUPPORTED_OPERATIONS: { readonly [Plane in "control" | "data"]: readonly Route[] } =
  {
    control: [
      unsupported("ResetTokenVaultKeyMaterial", "/identities/reset-token-vault-key-material"),
    ],
    data: [unsupported("InvokeWebSearch", "/web-search/:webSearchId/invoke")],
  };

function unsupported(name: string, path: string): Route {
  return {
    method: "POST",
    path,
    handle() {
      const message = `The emulator does not support ${name}`;
      throw new ServiceError(404, "UnknownOperationException", message);
    },
  };
}
