import { machineAddresses, machineName } from "../platform/machine-names.ts";
import { bracketed, hostName } from "./host-name.ts";

/** Whether a server that is bound to this host listens on every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return ANY.has(hostName(bracketed(host)) ?? "");
}

const ANY: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/** Whether a name, as a URL spells it, is one of this machine's own. A page of another site has none of them. */
export function isOwnName(name: string): boolean {
  return [machineName(), ...machineAddresses()].some((own) => hostName(bracketed(own)) === name);
}

/** Where other machines reach a server, when its host does not say it. */
export function urlsElsewhere(host: string, port: number): readonly string[] {
  if (!isAnyAddress(host)) return [];
  return machineAddresses()
    .filter((address) => !isLinkLocal(address) && (host.includes(":") || !address.includes(":")))
    .map((address) => `http://${bracketed(address)}:${port}`);
}

/** Such an address is nobody's without the name of the network it is on. */
function isLinkLocal(address: string): boolean {
  return /^(?:fe[89ab].:|169\.254\.)/i.test(address);
}
