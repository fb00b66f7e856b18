/** Names in the examples of the API description that are the same whenever they are made. */
import type { ApiExample } from '../../packages/host/src/server/openapi/api-examples.ts';

const SECRETS = /"(token|secret|sessionId)":"[^"]+"/g;

/** Replaces what differs from host to host. The same id always gets the same name. */
export function fixedNames(url: string, peerUrl: string): (example: ApiExample) => ApiExample {
  const names = new Map<string, string>();
  const named = (kind: string) => (id: string) => {
    const count = [...names.values()].filter((name) => name.startsWith(kind)).length;
    if (!names.has(id)) names.set(id, `${kind}${count + 1}`);
    return names.get(id) ?? id;
  };
  return (example) => {
    const text = JSON.stringify(example)
      .replaceAll(url, 'https://cairn.example.org')
      .replaceAll(peerUrl, 'https://beta.example.org')
      .replaceAll(/run_[0-9a-f][0-9a-zA-Z-]{15,}/g, named('run_'))
      .replaceAll(/ctx_[0-9a-zA-Z-]{16,}/g, named('ctx_'))
      .replaceAll(/wh_[0-9a-zA-Z_-]{16,}/g, named('wh_'))
      .replaceAll(/(\\?"(?:cursor|next|head)\\?":)\d+/g, (_, name: string) => `${name}42`)
      .replaceAll(/eyJ[\w-]{20,}\.\.[\w.-]+/g, 'the-jwe')
      .replaceAll(/"state":"[\w-]{43}"/g, '"state":"the-state"')
      .replaceAll(/cairn_sign_in_\w+=[\w-]+/g, 'cairn_sign_in=the-cookie')
      .replaceAll(/eyJ[0-9a-zA-Z_-]{20,}\.[0-9a-zA-Z_-]{20,}/g, 'the-token')
      .replaceAll(/"tokenId":"[0-9a-zA-Z_-]{22}"/g, '"tokenId":"the-token-id"')
      .replaceAll(/"secretFingerprint":"\w+"/g, '"secretFingerprint":"00c0ffee"')
      .replaceAll(/"id: [0-9a-zA-Z_-]{20,}/g, '"id: the-position')
      .replaceAll(/(sign-in#|"code":")[\w-]{43}/g, '$1the-code')
      .replaceAll(SECRETS, '"$1":"the-$1"')
      .replaceAll(/(_|"idToken":")[0-9a-f]{12}(?=_|")/g, '$1a1b2c3d4e5f6')
      .replaceAll(/\b[0-9a-f]{64}\b/g, '0'.repeat(64))
      .replaceAll(/\b[0-9a-f]{32}\b/g, '0'.repeat(32))
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-05T09:00:00.000Z');
    const renamed: ApiExample = JSON.parse(text);
    return renamed;
  };
}
