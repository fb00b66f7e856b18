/** All keys of the screen. */
import { Dialog } from '../parts/dialog.tsx';
import { DocsLink } from '../parts/docs-link.tsx';
import { useAllKeys } from './keys.tsx';

const names: Readonly<Record<string, string>> = { Enter: 'enter', Escape: 'esc' };

/** The arrows do the same as keys that are listed. */
const isListed = (key: string | undefined): key is string => key !== undefined && !key.startsWith('Arrow');

export function Help({ onClose }: { readonly onClose: () => void }) {
  const keys = useAllKeys();
  return (
    <Dialog label="Keys" className="help" onClose={onClose}>
      <h2>Keys</h2>
      <dl>
        <div>
          <dt>
            <kbd className="key">⌘ K</kbd> or <kbd className="key">Ctrl K</kbd>
          </dt>
          <dd>Find a screen, a run or an action</dd>
        </div>
        {keys.map(({ key, label }) =>
          isListed(key) ? (
            <div key={`${key} ${label}`}>
              <dt>
                <kbd className="key">{names[key] ?? key}</kbd>
              </dt>
              <dd>{label}</dd>
            </div>
          ) : null,
        )}
      </dl>
      <p>
        <DocsLink>Documentation</DocsLink>
      </p>
    </Dialog>
  );
}
