/** A dialog in front of the page. It closes with Escape, with a click beside it, and gives the focus back. */
import { type ReactNode, useEffect, useRef } from 'react';

interface DialogProps {
  readonly label: string;
  readonly onClose: () => void;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Dialog({ label, onClose, className, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null || dialog.open) return;
    dialog.showModal();
    // Without a field to fill in, the first link would have the focus, and look chosen.
    if (document.activeElement instanceof HTMLAnchorElement) dialog.focus();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={element}
      className={className}
      aria-label={label}
      tabIndex={-1}
      onClose={onClose}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) currentTarget.close();
      }}
    >
      {children}
    </dialog>
  );
}
