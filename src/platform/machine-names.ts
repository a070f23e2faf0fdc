import { hostname, networkInterfaces } from "node:os";

/** The current network addresses except loopback. The addresses change when the machine changes networks. */
export function listMachineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal }) => !internal).map(({ address }) => address),
  );
}

/** The host name of this machine. */
export function readMachineName(): string {
  return hostname();
}
