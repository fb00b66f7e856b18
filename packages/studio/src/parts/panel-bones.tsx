/** Bones in the place of a panel beside a list: where it comes from, its title, its content. */
export const PanelBones = () => (
  <div className="panel-bones" aria-hidden="true">
    <span className="bone" />
    <span className="bone" />
    <span className="bone" />
  </div>
);
