import { listMachineAddresses, readMachineName } from "../../platform/machine-names.ts";
import { formatUrlHost, parseHostName } from "./host-name.ts";

/** Whether a server that is bound to this host listens on every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return ANY_ADDRESSES.has(parseHostName(formatUrlHost(host)) ?? "");
}

const ANY_ADDRESSES: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/** Whether a name, as a URL spells it, is one of this machine's own. A page of another site has none of them. */
export function isLocalName(name: string): boolean {
  return [readMachineName(), ...listMachineAddresses()].some(
    (localNames) => parseHostName(formatUrlHost(localNames)) === name,
  );
}

/** Where other machines reach a server, when its host does not say it. */
export function listNetworkUrls(host: string, port: number): readonly string[] {
  if (!isAnyAddress(host)) return [];
  return listMachineAddresses()
    .filter((address) => !isLinkLocal(address) && (host.includes(":") || !address.includes(":")))
    .map((address) => `http://${formatUrlHost(address)}:${port}`);
}

/** Such an address is nobody's without the name of the network it is on. */
function isLinkLocal(address: string): boolean {
  return /^(?:fe[89ab].:|169\.254\.)/i.test(address);
}
