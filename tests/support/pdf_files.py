"""PDF files written by hand."""


def pdf(pages: list[list[str]], title: str = "", encrypted: bool = False) -> bytes:
    """Write a PDF by hand: for each page its lines."""
    sheet = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
    page_numbers = range(4, 4 + 2 * len(pages), 2)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{n} 0 R' for n in page_numbers)}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in zip(page_numbers, pages, strict=True):
        line_operators = " ".join(f"({line}) Tj T*" for line in lines)
        content = f"BT /F1 12 Tf 72 720 Td 14 TL {line_operators} ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {sheet} /Contents {number + 1} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    objects.append(f"<< /Title ({title}) >>")
    lock = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >>"
    body, starts = "%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        starts.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R"
    trailer += f" /Encrypt {lock} /ID [<00><00>]" if encrypted else ""
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< {trailer} >>\n"
    return f"{body}{end}startxref\n{len(body)}\n%%EOF\n".encode("latin-1")
