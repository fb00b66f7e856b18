/** Resolves prompt templates for runs: by reference when a run starts, then by the content hash it was pinned to. */
import { TerminalError } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import type { PromptPin, PromptSource, PromptTemplate, Redactor, Sha256 } from '../../engine/ports.ts';
import { refuseSecrets } from '../../engine/values/redacted.ts';
import type { Definitions } from '../../log/ports/definitions.ts';
import { LruMap } from '../../lru-map.ts';
import type { PromptRegistry } from './prompt-registry.ts';
import { parsePromptRef, parseTemplate, refText } from './prompt-template.ts';

/** Templates in memory. Each has at most 65,536 characters of text. */
const MAX_CACHED = 256;

export interface PromptSourcePorts {
  readonly registry: PromptRegistry;
  readonly definitions: Pick<Definitions, 'get' | 'put'>;
  readonly sha256: Sha256;
  /** Detects secrets, which must not be stored. */
  readonly redactor: Redactor | null;
}

export function createPromptSource({ registry, definitions, sha256, redactor }: PromptSourcePorts): PromptSource {
  /** The pins of templates that are in the store. A changed template is another object. */
  const stored = new WeakMap<PromptTemplate, PromptPin>();
  const kept = new LruMap<string, PromptTemplate>(MAX_CACHED);

  const pinOf = async (template: PromptTemplate): Promise<PromptPin> => {
    const known = stored.get(template);
    if (known !== undefined) return known;
    const ref = refText(template);
    refuseSecrets(redactor, `The prompt template ${ref}`, template);
    const body = canonicalize(template) ?? '';
    const pin = { hash: sha256(body, 'hex'), ref };
    await definitions.put(pin.hash, body);
    stored.set(template, pin);
    return pin;
  };

  return {
    async pin(refs) {
      const pins: Record<string, PromptPin> = {};
      for (const text of refs) {
        const ref = parsePromptRef(text);
        const template = ref === null ? undefined : registry.lookup(ref);
        if (template !== undefined) pins[text] = await pinOf(template);
      }
      return pins;
    },
    async template(hash) {
      const known = kept.get(hash);
      if (known !== undefined) return known;
      const body = await definitions.get(hash);
      if (body === null) throw lostTemplate(hash);
      return kept.set(hash, parseTemplate(JSON.parse(body)));
    },
  };
}

const lostTemplate = (hash: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The prompt template with the definition ${hash} is not in the store.`,
    hint: 'Restore the data folder from a backup; "cairn verify" names the runs that are pinned to it.',
    details: { definitionHash: hash },
  });
