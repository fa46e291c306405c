"""Pack the extension for VS Code: `dist/splatscope-VERSION.vsix`, a zip of its files with a manifest. It needs no other tool."""

import json
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parents[1]
EXTENSION = ROOT / "editors" / "vscode"
FILES = ("package.json", "extension.js", "findings.js", "README.md")
_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/>\
<Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/>\
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>
"""
_MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
<DisplayName>{displayName}</DisplayName>
<Description xml:space="preserve">{description}</Description>
<Categories>{categories}</Categories>
<Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/></Properties>
<License>extension/LICENSE.txt</License>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
</Assets>
</PackageManifest>
"""


def make_vsix(folder: Path) -> Path:
    """Write the extension into a folder, and return the file. The same sources give the same bytes."""
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    manifest = _MANIFEST.format(
        **{name: quoteattr(package[name]) for name in ("name", "version", "publisher")},
        **{name: escape(package[name]) for name in ("displayName", "description")},
        categories=escape(",".join(package["categories"])),
        engine=quoteattr(package["engines"]["vscode"]),
    )
    contents = {"extension.vsixmanifest": manifest, "[Content_Types].xml": _TYPES}
    contents |= {f"extension/{name}": (EXTENSION / name).read_text(encoding="utf-8") for name in FILES}
    contents["extension/LICENSE.txt"] = (ROOT / "LICENSE").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{package['name']}-{package['version']}.vsix"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return file


if __name__ == "__main__":
    print(make_vsix(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"))
