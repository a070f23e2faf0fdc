import { BlockList, isIP } from "node:net";

/** Addresses which are not reachable from the internet, or reach another machine of the private network. */
const PRIVATE_SUBNETS: readonly (readonly [address: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Link-local: the metadata service of clouds.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  ["::", 96],
  ["64:ff9b::", 32],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 9],
  ["ff00::", 8],
];

const PRIVATE_ADDRESSES = createBlockList();

/** Whether an IP address is reachable from the internet. False for anything that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !PRIVATE_ADDRESSES.check(address, "ipv4");
  // An IPv4 address inside an IPv6 address is compared as IPv4 by the block list.
  return version === 6 && !PRIVATE_ADDRESSES.check(address, "ipv6");
}

function createBlockList(): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of PRIVATE_SUBNETS)
    list.addSubnet(address, prefix, address.includes(":") ? "ipv6" : "ipv4");
  return list;
}
