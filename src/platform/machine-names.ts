import { hostname, networkInterfaces } from "node:os";

/** Its addresses but those of the loopback, as they are now: a machine may move from one network to another. */
export function listMachineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal }) => !internal).map(({ address }) => address),
  );
}

/** What it calls itself. */
export function readMachineName(): string {
  return hostname();
}
