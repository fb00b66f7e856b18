/** Client addresses: what counts as one client, and which addresses are trusted reverse proxies. */
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IPv6 client usually controls a whole /64, so the network counts as one address. */
export function networkOf(address: string): string {
  // Most addresses are IPv4, and parsing one costs more than the lookup it is for.
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

/** Tells whether an address is one of these IP addresses or networks in CIDR notation. */
export function addressMatcher(listed: readonly string[]): (address: string) => boolean {
  if (listed.length === 0) return () => false;
  const list = new BlockList();
  for (const one of listed) {
    const [address = '', prefix] = one.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // A dual-stack socket shows an IPv4 client as ::ffff:1.2.3.4.
    const plain = ipaddr.process(address);
    return list.check(plain.toString(), plain instanceof ipaddr.IPv6 ? 'ipv6' : 'ipv4');
  };
}
