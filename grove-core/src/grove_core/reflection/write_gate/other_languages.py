"""What little the write gate knows of languages other than English."""

from typing import Final

REASONS: Final = frozenset(
    """
    weil sonst denn damit wenn falls außer bevor nachdem statt stattdessen nur nie niemals kein
    keine sondern obwohl solange sobald ohne erst deshalb daher
    parce car sinon si sauf avant après sans jamais seulement pas puisque donc lorsque quand
    porque sino salvo antes después sin nunca solo sólo no pues cuando excepto aunque
    senão se exceto depois sem só não quando embora pois
    perché altrimenti prima dopo senza mai soltanto non quando tranne però
    omdat anders als tenzij voordat nadat zonder nooit alleen niet geen
    потому иначе если кроме пока после перед без нельзя никогда только не когда чтобы поэтому
    bo ponieważ inaczej jeśli chyba przed po bez nigdy tylko nie gdy
    annars eftersom om utan innan efter aldrig bara inte för att när
    çünkü yoksa eğer önce sonra asla sadece
    """.split()
)
REASONS_IN_TEXT: Final = (
    *(
        "因为",
        "否则",
        "如果",
        "除非",
        "之前",
        "之后",
        "不要",
        "不能",
        "只",
        "必须",
        "会",
        "而不是",
        "导致",
    ),
    *(
        "ので",
        "から",
        "ため",
        "ないと",
        "場合",
        "とき",
        "しない",
        "のみ",
        "だけ",
        "必要",
        "前に",
        "後に",
    ),
    *("때문", "않으면", "경우", "전에", "후에", "만", "해야", "없"),
    *("لأن", "إلا", "إذا", "קודם", "כי", "क्योंकि", "वरना", "अगर"),
)
EVALUATIONS: Final = frozenset(
    """
    immer wichtig gut gute guten guter gutes sauber sauberen sauberer saubere besser qualität
    sorgfältig ordentlich lesbar wartbar entwickler software verständlich richtig
    vorsicht vorsichtig fehlerhaft böswillig sicherheit robust robustheit grundsätzlich produktiv
    ergiebig erfolgreich problemlos
    erleichtert einfacher einheitlich einheitlicher sollte sollten zusammenarbeit team eignet
    toujours important importante importants importantes bon bonne bons bonnes propre propres
    qualité mieux lisible développeurs logiciel soigneusement
    siempre buen buena buenas bueno buenos limpio calidad mejor legible desarrolladores cuidado
    conviene delicado delicada especiales robustez robusto productiva productivo claros claro
    colaboración convém cuidado cuidados especiais produtiva produtivo colaboração agradou bem
    prudence prudent délicat délicate robuste productif productive collaboration attention
    sempre bom boa boas bons limpo qualidade melhor importantes legível
    importanti buono buona buoni qualità meglio pulito leggibile
    altijd belangrijk goed goede schone kwaliteit beter
    всегда важно важны хороший хорошие хороших хорошо качество чистый качества лучше
    zawsze ważne dobre jakość lepiej
    """.split()
)
EVALUATIONS_IN_TEXT: Final = (
    *("总是", "重要", "质量", "良好", "干净", "最佳", "提高", "可读", "小心"),
    *("常に", "大切", "品質", "良い", "きれい", "注意し", "可読性"),
    *("항상", "중요", "품질", "좋은", "깨끗"),
)
PASSING: Final = frozenset(
    """
    heute morgen gestern derzeit momentan gerade aujourd'hui demain hier actuellement hoy mañana
    ayer
    actualmente hoje amanhã ontem atualmente oggi domani ieri vandaag morgen gisteren сегодня завтра
    вчера сейчас dziś jutro wczoraj idag imorgon todo wip voraussichtlich nächster demnächst
    prochaine próximo
    """.split()
)
PASSING_IN_TEXT: Final = (
    "今天",
    "明天",
    "昨天",
    "目前",
    "暂时",
    "今日",
    "明日",
    "昨日",
    "오늘",
    "내일",
)
CHANGES: Final = frozenset(
    """
    nun berichtigt neuerdings umgebaut umgestellt désormais remplace dorénavant ahora agora
    hinzugefügt entfernt aktualisiert erweitert umbenannt geändert ersetzt behoben angepasst
    verschoben
    ajouté ajoutée supprimé modifié corrigé renommé remplacé
    añadido agregado eliminado actualizado corregido renombrado modificado resolvimos
    adicionado removido atualizado corrigido alterado aggiunto rimosso aggiornato corretto
    toegevoegd verwijderd bijgewerkt добавлен добавлена добавлено удалён обновлён исправлен
    исправлено
    dodano usunięto zaktualizowano
    """.split()
)
CHANGES_IN_TEXT: Final = (
    "添加了",
    "修复了",
    "更新了",
    "修改了",
    "追加しました",
    "修正しました",
    "変更しました",
)
