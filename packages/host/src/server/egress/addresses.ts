/** Decides which IP addresses belong to the public internet. An address from data may lead only to those. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** All addresses allocated for public IPv6. Anything outside is special, including ranges not listed yet. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** DNS64 resolvers embed IPv4 addresses in this prefix. */
const translated: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/** A public address that the local cloud answers: the metadata channel of one large provider. */
const hostAgents: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Why an address is not public, as text for a message; null when it is public. */
export function refusedRange(text: string): string | null {
  // The library accepts unusual spellings. Only those that a resolver or a parsed URL produces pass.
  if (isIP(text) === 0 || text.includes('%')) return 'not an address';
  const address = embedded(ipaddr.parse(text));
  if (address.kind() === 'ipv4') {
    if (hostAgents.has(address.toString())) return 'an address of the cloud provider';
    return rangeWords(address);
  }
  return address.match(globalUnicast) ? rangeWords(address) : (rangeWords(address) ?? 'a reserved address');
}

/** The IPv4 address embedded in an IPv6 address, or the address itself. */
function embedded(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(translated) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

const words: Readonly<Record<string, string>> = {
  unspecified: 'an unspecified address',
  loopback: 'a loopback address',
  linkLocal: 'a link-local address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  deprecatedSiteLocal: 'a private address',
  carrierGradeNat: 'an address of a shared network',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
};

function rangeWords(address: Address): string | null {
  const range: string = address.range();
  return range === 'unicast' ? null : (words[range] ?? 'a reserved address');
}
