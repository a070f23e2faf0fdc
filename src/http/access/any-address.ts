import { listMachineAddresses, readMachineName } from "../../platform/machine-names.ts";
import { formatUrlHost, parseHostName } from "./host-name.ts";

/** Whether a server bound to this host listens on every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return ANY_ADDRESSES.has(parseHostName(formatUrlHost(host)) ?? "");
}

const ANY_ADDRESSES: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/** Whether a host name, in its URL spelling, belongs to this machine. A page of another site never has such a name. */
export function isLocalName(name: string): boolean {
  return [readMachineName(), ...listMachineAddresses()].some(
    (localNames) => parseHostName(formatUrlHost(localNames)) === name,
  );
}

/** The URLs at which other machines reach a server bound to every address. Empty for any other host. */
export function listNetworkUrls(host: string, port: number): readonly string[] {
  if (!isAnyAddress(host)) return [];
  return listMachineAddresses()
    .filter((address) => !isLinkLocal(address) && (host.includes(":") || !address.includes(":")))
    .map((address) => `http://${formatUrlHost(address)}:${port}`);
}

/** A link-local address is not reachable without a network interface name (zone). */
function isLinkLocal(address: string): boolean {
  return /^(?:fe[89ab].:|169\.254\.)/i.test(address);
}
