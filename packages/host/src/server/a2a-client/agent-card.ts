/** Agent cards of peers, in the form of both versions: where to call, how, and which skills there are. */
import type { Json } from '@cairn/protocol';
import { z } from 'zod';
import type { A2aVersion } from '../a2a/versions.ts';
import { malformed, wrongVersion } from './peer-error.ts';

export interface PeerCard {
  /** As the card says it: untrusted. */
  readonly name: string;
  readonly skills: readonly string[];
  /** The address for JSON-RPC. Only an allowed origin is called. */
  readonly url: string;
  readonly version: A2aVersion;
  readonly isStreaming: boolean;
}

const text = z.string().max(2_048);
const about = {
  name: z.string().max(500),
  skills: z
    .array(z.looseObject({ id: z.string().max(256) }))
    .max(1_000)
    .default([]),
  capabilities: z.looseObject({ streaming: z.boolean().nullish() }).nullish(),
};

const v1 = z.looseObject({
  ...about,
  supportedInterfaces: z
    .array(z.looseObject({ url: text, protocolBinding: text, protocolVersion: text }))
    .min(1)
    .max(32),
});

const v03 = z.looseObject({
  ...about,
  url: text,
  protocolVersion: text.default('0.3.0'),
  preferredTransport: text.default('JSONRPC'),
  additionalInterfaces: z
    .array(z.looseObject({ url: text, transport: text }))
    .max(32)
    .nullish(),
});

/** Throws `interop_version_unsupported` for a card without an interface that this host speaks. */
export function cardOf(peer: string, card: Json): PeerCard {
  const isNew = typeof card === 'object' && card !== null && 'supportedInterfaces' in card;
  const found = isNew ? newest(peer, parsed(peer, v1, card)) : older(peer, parsed(peer, v03, card));
  if (!URL.canParse(found.url)) throw malformed(peer, 'its card names an interface without an address');
  return found;
}

function parsed<Shape extends z.ZodType>(peer: string, shape: Shape, card: Json): z.infer<Shape> {
  const result = shape.safeParse(card);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw malformed(peer, `its card is malformed at ${issue?.path.join('.') || 'its root'}`);
}

/** The minor version decides: 1.0.2 is 1.0. */
const versionOf = (version: string): A2aVersion | null =>
  /^1\.0(\.|$)/.test(version) ? '1.0' : /^0\.3(\.|$)/.test(version) ? '0.3' : null;

function newest(peer: string, { name, skills, capabilities, supportedInterfaces }: z.infer<typeof v1>): PeerCard {
  const spoken = supportedInterfaces.flatMap(({ url, protocolBinding, protocolVersion }) => {
    const version = protocolBinding.toUpperCase() === 'JSONRPC' ? versionOf(protocolVersion) : null;
    return version === null ? [] : [{ url, version }];
  });
  const found = spoken.find(({ version }) => version === '1.0') ?? spoken[0];
  if (found === undefined) throw wrongVersion(peer, 'its card names no interface that this host speaks');
  return { ...aboutOf(name, skills, capabilities), ...found };
}

function older(peer: string, card: z.infer<typeof v03>): PeerCard {
  const { name, skills, capabilities, protocolVersion, preferredTransport, additionalInterfaces } = card;
  const version = versionOf(protocolVersion);
  const others = (additionalInterfaces ?? []).map(({ url, transport }) => ({ url, transport }));
  const all = [{ url: card.url, transport: preferredTransport }, ...others];
  const found = all.find(({ transport }) => transport.toUpperCase() === 'JSONRPC');
  if (version === null || found === undefined) {
    throw wrongVersion(peer, 'its card names no version and transport that this host speaks');
  }
  return { ...aboutOf(name, skills, capabilities), url: found.url, version };
}

const aboutOf = (
  name: string,
  skills: readonly { readonly id: string }[],
  capabilities: z.infer<typeof about.capabilities>,
): Pick<PeerCard, 'name' | 'skills' | 'isStreaming'> => ({
  name,
  skills: skills.map(({ id }) => id),
  isStreaming: capabilities?.streaming === true,
});
