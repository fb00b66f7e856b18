/** Whether a pack is signed by a key that the operator trusts. */
import type { InstalledPack } from '@cairn/protocol';
import { Mark } from '../parts/status.tsx';

export const Signature = ({ pack: { signedBy } }: { readonly pack: InstalledPack }) => (
  <span
    className="status signature"
    data-tone={signedBy === null ? 'waiting' : 'done'}
    title={
      signedBy === null
        ? 'No signature. Only a development host installs such a pack.'
        : `Every file is covered by a signature of the key ${signedBy}.`
    }
  >
    <Mark tone={signedBy === null ? 'waiting' : 'done'} />
    {signedBy === null ? 'unsigned' : 'signed'}
  </span>
);
